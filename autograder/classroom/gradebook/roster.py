"""Reads a roster, the students of a class, from a CSV file made by a spreadsheet or an LMS."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.classroom.csv_tables import TableError, csv_rows, excess_cells
from autograder.classroom.students import Student, id_problem, is_canvas_test_student

COLUMNS = {
    "id": (
        *("id", "sis_login_id", "login_id", "username", "user_name", "login", "netid", "student_id", "student_number"),
        *("sid", "sis_user_id", "id_number", "matriculation_number", "identifier"),
    ),
    "first_name": ("first_name", "firstname", "given_name", "forename"),
    "last_name": ("last_name", "lastname", "surname", "family_name"),
    "email": ("email", "email_address", "e_mail", "mail"),
    "lms_user_id": ("lms_user_id", "canvas_id", "canvas_user_id", "moodle_id", "blackboard_id", "github_username"),
    "name": ("student", "full_name", "student_name", "name"),
}
"""What is read from a roster, each with the names that its column may have, the most reliable first."""


@dataclass(frozen=True)
class Roster:
    """The students of a roster, and a line for each row that was left out."""

    students: tuple[Student, ...]
    left_out: tuple[str, ...] = ()


def read_roster(path: Path) -> Roster:
    """The students in a CSV file with a header line.

    Columns may be separated by commas, semicolons or tabs, and have the names that Canvas, Moodle, Gradescope, Blackboard and
    GitHub Classroom give them (:data:`COLUMNS`); other columns are ignored. Without a column of ids, the email address is
    the id. Equal rows count once. Canvas's test student is left out.

    Raises:
        TableError: there are rows without an id, with an unusable id, or with the id of another student; the message names all
            of them.
        OSError: the file cannot be read.
    """
    lines = csv_rows(path)
    _, header = next(lines, (1, []))
    columns = _columns(header)
    if "id" not in columns:
        raise TableError(f"{path}: no column 'id' or 'email'; the first line should be id,first_name,last_name,email")
    students: dict[str, Student] = {}
    problems, left_out = [], []
    for line, row in lines:
        student = _student(row, columns)
        if not any(asdict(student).values()) or _is_canvas_remark(row):
            continue
        if is_canvas_test_student(row[0]) and _names(header)[0] == "student":
            left_out.append(f"{path}, line {line}: {row[0]!r} is Canvas's test student, and is left out")
            continue
        reason = excess_cells(row, header) or id_problem(student.id) or _clash(student, students)
        if reason:
            problems.append(f"{path}, line {line}: {reason}")
        students.setdefault(student.id.casefold(), student)
    if problems:
        raise TableError("\n".join(problems))
    return Roster(tuple(students.values()), tuple(left_out))


def _names(header: Sequence[str]) -> list[str]:
    return [re.sub(r"[\W_]+", "_", name.strip().casefold()).strip("_") for name in header]


def _columns(header: Sequence[str]) -> dict[str, int]:
    """The index of the column of each fact, for those that the header has."""
    names = _names(header)
    places = {name: place for place, name in reversed(list(enumerate(names)))}
    columns = {fact: next((places[name] for name in known if name in places), -1) for fact, known in COLUMNS.items()}
    if (
        "id" in places
        and (login := next((places[n] for n in ("sis_login_id", "sis_user_id") if n in places), None)) is not None
    ):
        columns["id"], columns["lms_user_id"] = login, places["id"]  # in Canvas's files the column ID is its own number
    if columns["id"] < 0:
        columns["id"] = columns["email"]
    return {fact: place for fact, place in columns.items() if place >= 0}


def _student(row: Sequence[str], columns: dict[str, int]) -> Student:
    facts = {fact: row[place] if place < len(row) else "" for fact, place in columns.items()}
    name = facts.pop("name", "")
    if name and not facts.get("first_name") and not facts.get("last_name"):
        last, comma, first = name.partition(",")
        if not comma:
            first, _, last = name.rpartition(" ")
        facts |= {"first_name": first.strip(), "last_name": last.strip()}
    return Student(**facts)


def _is_canvas_remark(row: Sequence[str]) -> bool:
    """Whether this is the row below the header in which Canvas gives the maximum points."""
    return "Points Possible" in row[:1]


def _clash(student: Student, known: dict[str, Student]) -> str:
    """What is wrong if another row has the same id; empty if none has, or the rows agree."""
    other = known.get(student.id.casefold(), student)
    if other == student:
        return ""
    if other.id != student.id:
        return f"the id {student.id!r} differs from {other.id!r} by capitals only"
    return f"the id {student.id!r} is here for the second time, with other values"
