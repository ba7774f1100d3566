"""The students of a class, from a CSV file into nbgrader's gradebook."""

from __future__ import annotations

import contextlib
import csv
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


class RosterError(ValueError):
    """A roster with bad rows; the message has one line for each."""


@dataclass(frozen=True)
class Student:
    """One row of a roster. ``id`` names the student's directory in ``submitted/``."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""


def read_roster(path: Path) -> tuple[Student, ...]:
    """The students in a CSV file with a header line; columns other than those of :class:`Student` are ignored.

    Raises:
        RosterError: rows without an id, with an unusable or a repeated one; all of them are named, so that none is lost.
        OSError: the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise RosterError(f"{path}: not a CSV file in UTF-8") from None
    reader = csv.DictReader(text.splitlines())
    columns = {(name or "").strip().lower(): name for name in reader.fieldnames or ()}
    if "id" not in columns:
        raise RosterError(f"{path}: no column 'id'; the first line should be id,first_name,last_name,email")
    students: dict[str, Student] = {}
    wrong = []
    for row in reader:
        values = {name: (row[columns[name]] or "").strip() for name in Student.__annotations__ if name in columns}
        if not any(values.values()):
            continue
        if reason := _unusable(values["id"], students):
            wrong.append(f"{path}, line {reader.line_num}: {reason}")
        else:
            students[values["id"]] = Student(**values)
    if wrong:
        raise RosterError("\n".join(wrong))
    return tuple(students.values())


def enrol(students: Iterable[Student], db_url: str) -> None:
    """Add students to nbgrader's gradebook, or bring their names up to date."""
    from nbgrader.api import Gradebook

    with commands_of_this_python(), Gradebook(db_url) as gradebook:
        for student in students:
            facts = asdict(student)
            gradebook.update_or_create_student(facts.pop("id"), **facts)


@contextlib.contextmanager
def commands_of_this_python() -> Iterator[None]:
    """To make a database nbgrader calls ``alembic``, which is not on the path of a virtual environment not activated."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _unusable(student_id: str, known: dict[str, Student]) -> str:
    if not student_id:
        return "no id"
    if not re.fullmatch(r"[\w@][\w@.-]*", student_id):
        return f"the id {student_id!r} cannot name a directory; use letters, digits and _ @ . -"
    return f"the id {student_id!r} stands here for the second time" if student_id in known else ""
