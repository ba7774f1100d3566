"""The students of a class: from a CSV file, as a spreadsheet or an LMS writes it, into nbgrader's gradebook, and back."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

LONGEST_ID = 128
"""Characters of an id; nbgrader's gradebook keeps as many."""

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
"""What is read of a roster, and the names its column may have, the one that is believed most first."""


class RosterError(ValueError):
    """A roster with bad rows; the message has one line for each."""


@dataclass(frozen=True)
class Student:
    """A student of a class, as a roster and the gradebook know them.

    Attributes:
        id: names the student's directory in ``submitted/``.
        first_name, last_name, email: empty if they are not known.
        lms_user_id: what the LMS calls the student in names of files: Canvas's number, a GitHub user name.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def name(self) -> str:
        """To show; the id if there is nothing better."""
        return f"{self.first_name} {self.last_name}".strip() or self.id

    @property
    def sort_key(self) -> tuple[str, ...]:
        return ((self.last_name or self.id).casefold(), self.first_name.casefold(), self.id)


def read_roster(path: Path) -> tuple[Student, ...]:
    """The students in a CSV file with a header line.

    Columns may be separated by commas, semicolons or tabs, and be called as Canvas, Moodle, Gradescope, Blackboard and GitHub
    Classroom call them (:data:`COLUMNS`); others are ignored. Where there is no id, the email address is one. Rows that say the
    same of the same student count once.

    Raises:
        RosterError: rows without an id, with an unusable one, or with one that somebody else has; all of them are named, so
            that none is lost.
        OSError: the file cannot be read.
    """
    lines = _rows(path)
    _, header = next(lines, (1, []))
    columns = _columns(header)
    if "id" not in columns:
        raise RosterError(f"{path}: no column 'id' or 'email'; the first line should be id,first_name,last_name,email")
    students: dict[str, Student] = {}
    wrong = []
    for line, row in lines:
        student = _student(row, columns)
        if not any(asdict(student).values()) or _is_canvas_remark(row):
            continue
        reason = _misplaced(row, header) or id_problem(student.id) or _clash(student, students)
        if reason:
            wrong.append(f"{path}, line {line}: {reason}")
        students.setdefault(student.id.casefold(), student)
    if wrong:
        raise RosterError("\n".join(wrong))
    return tuple(students.values())


def enrol(students: Iterable[Student], db_url: str) -> None:
    """Add students to nbgrader's gradebook, or bring up to date what it says of them. Nobody and nothing known is deleted.

    Raises:
        NoGradebookError: its database cannot be used.
    """
    from nbgrader.api import Gradebook, MissingEntry
    from sqlalchemy.exc import SQLAlchemyError

    from autograder.classroom.class_marks import NoGradebookError, database_trouble
    from autograder.classroom.course import CONFIG

    try:
        with commands_of_this_python(), Gradebook(db_url) as gradebook:
            for student in students:
                facts = asdict(student)
                facts.pop("id")
                with contextlib.suppress(MissingEntry):
                    known = gradebook.find_student(student.id)
                    facts = {name: value or getattr(known, name) or "" for name, value in facts.items()}
                gradebook.update_or_create_student(student.id, **facts)
    except (SQLAlchemyError, ImportError) as error:
        advice = f"see to it, or to c.CourseDirectory.db_url in {CONFIG}, and give the roster again"
        raise NoGradebookError(f"the gradebook cannot be used ({database_trouble(error)}); {advice}") from None


def enrolled(db_url: str) -> tuple[tuple[Student, ...], bool]:
    """The students in the gradebook of a class, by id, and whether they are a roster.

    They are none if nbgrader knows nothing but ids: it notes the id of everybody it has marked.

    Raises:
        NoGradebookError: it is there, and cannot be read.
    """
    database = db_url.removeprefix("sqlite:///").partition("?")[0]
    if db_url.startswith("sqlite:///") and not Path(database).is_file():
        return (), False  # to look is no reason to make one
    from autograder.classroom.class_marks import open_gradebook

    with open_gradebook(db_url) as gradebook:
        rows = [(s.id, s.first_name, s.last_name, s.email, s.lms_user_id) for s in gradebook.students]
    students = sorted((Student(*(fact or "" for fact in row)) for row in rows), key=lambda student: student.id)
    return tuple(students), any(row[1:] != (None,) * 4 for row in rows)


def id_problem(student_id: str) -> str:
    """Why a text cannot be a student's id; empty if it can. An id names a directory, so it may not lead anywhere else."""
    if not student_id:
        return "no id"
    if len(student_id) > LONGEST_ID or len(student_id.encode(errors="replace")) > 255 - len(".unfinished"):
        return f"the id {student_id[:20] + '…'!r} is longer than {LONGEST_ID} characters"
    if not re.fullmatch(r"[\w@][\w@.-]*", student_id):
        return f"the id {student_id!r} cannot name a directory; use letters, digits and _ @ . -"
    return ""


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, each with the number of the line it ends in."""
    text = _text(path)
    separator = re.match(r"sep=(.)\r?\n", text)  # Excel writes this, and reads it
    text = text[separator.end() :] if separator else text
    first = text.partition("\n")[0]
    delimiter = separator[1] if separator else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for row in reader:
            yield reader.line_num + bool(separator), [value.strip() for value in row]
    except csv.Error as error:
        problem = f"a quotation mark too many or too few ({error})"
        raise RosterError(f"{path}, line {reader.line_num}: {problem}; nothing after it can be told apart") from None


def _text(path: Path) -> str:
    data = path.read_bytes()
    if data.startswith(b"PK\x03\x04"):
        raise RosterError(f"{path}: is a workbook, not a CSV file; save the sheet as CSV (UTF-8)")
    encodings = ("utf-16",) if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig", "cp1252")
    for encoding in encodings:  # as spreadsheets on Windows write what they call Unicode text, and CSV
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    raise RosterError(f"{path}: not a CSV file in UTF-8")


def _columns(header: Sequence[str]) -> dict[str, int]:
    """Where each fact stands, by the names of columns."""
    names = [re.sub(r"[\W_]+", "_", name.strip().casefold()).strip("_") for name in header]
    places = {name: place for place, name in reversed(list(enumerate(names)))}
    columns = {fact: next((places[name] for name in known if name in places), -1) for fact, known in COLUMNS.items()}
    if (
        "id" in places
        and (login := next((places[n] for n in ("sis_login_id", "sis_user_id") if n in places), None)) is not None
    ):
        columns["id"], columns["lms_user_id"] = login, places["id"]  # Canvas calls its own number ID
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
    """Whether this is the row below the header in which Canvas says what can be earned."""
    return "Points Possible" in row[:1]


def _misplaced(row: Sequence[str], header: Sequence[str]) -> str:
    if any(row[len(header) :]):
        return f"{len(row)} values where the first line names {len(header)}; put quotation marks around one that has a comma"
    return ""


def _clash(student: Student, known: dict[str, Student]) -> str:
    other = known.get(student.id.casefold(), student)
    if other == student:
        return ""
    if other.id != student.id:
        return f"the id {student.id!r} differs from {other.id!r} by capitals only"
    return f"the id {student.id!r} stands here for the second time, and says something else"


@contextlib.contextmanager
def commands_of_this_python() -> Iterator[None]:
    """To make a database nbgrader calls ``alembic``, which is not on the path of a virtual environment not activated."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before
