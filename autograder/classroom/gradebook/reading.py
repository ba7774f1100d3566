"""The marks in nbgrader's gradebook, read without changing it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy
from nbgrader.api import Assignment, Course, Gradebook, SubmittedAssignment
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom.students import Student

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory


class NoGradebookError(ValueError):
    """A gradebook that cannot be read. The message is one line: which, why, and what to do."""


@dataclass(frozen=True)
class Entry:
    """What the gradebook holds of one student's submission to one unit: points, and whether a person has yet to grade some."""

    points: float
    penalty: float
    timestamp: datetime | None
    waits: bool

    @property
    def score(self) -> float:
        return max(0.0, self.points - self.penalty)


@dataclass(frozen=True)
class ClassMarks:
    """What the gradebook holds.

    Attributes:
        students: in the order of the gradebook.
        max_scores: points to be had, by unit.
        due: when, by unit.
        entries: by student and unit; none where nothing was handed in.
    """

    students: tuple[Student, ...]
    max_scores: dict[str, float]
    due: dict[str, datetime | None]
    entries: dict[tuple[str, str], Entry]


def read_marks(gradebook: Gradebook, units: Sequence[str] = (), students: Sequence[str] = ()) -> ClassMarks:
    """The marks in a gradebook, of these units and students only, if any are named."""
    assignments = [one for one in gradebook.assignments if not units or one.name in units]
    enrolled = [
        Student(one.id, *(text or "" for text in (one.first_name, one.last_name, one.email, one.lms_user_id)))
        for one in gradebook.students
        if not students or one.id in students
    ]
    submissions = gradebook.db.query(
        SubmittedAssignment.student_id,
        Assignment.name,
        SubmittedAssignment.score,
        SubmittedAssignment.late_submission_penalty,
        SubmittedAssignment.timestamp,
        SubmittedAssignment.needs_manual_grade,
    ).join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
    entries = {
        (student, unit): Entry(points or 0.0, penalty or 0.0, timestamp, bool(waits))
        for student, unit, points, penalty, timestamp, waits in submissions
    }
    max_scores = {one.name: float(one.max_score or 0.0) for one in assignments}
    return ClassMarks(tuple(enrolled), max_scores, {one.name: one.duedate for one in assignments}, entries)


def database(course: CourseDirectory, url: str = "") -> str:
    """The address of a class's gradebook, or ``url`` if that is given. A file in a configuration lies in the class's directory.

    Raises:
        NoGradebookError: it is no address of a database.
    """
    try:
        address = sqlalchemy.make_url(url or course.db_url)
    except SQLAlchemyError:
        example = "sqlite:///gradebook.db or postgresql://user@host/name"
        raise NoGradebookError(f"{url or course.db_url!r} is no address of a database; write it like {example}") from None
    if address.get_backend_name() == "sqlite" and address.database and not url:
        address = address.set(database=str(Path(course.root, address.database)))
    return address.render_as_string(hide_password=False)


@contextlib.contextmanager
def open_gradebook(url: str) -> Iterator[Gradebook]:
    """Open the gradebook at an address, to read.

    Raises:
        NoGradebookError: it is not there, locked, gone, or no gradebook; also while it is used.
    """
    address = sqlalchemy.make_url(url)
    name = address.database if address.get_backend_name() == "sqlite" else address.render_as_string(hide_password=True)
    if address.get_backend_name() == "sqlite" and not Path(name or "").is_file():
        raise NoGradebookError(f"{name}: there is no such gradebook; grade something first, or name another with --db")
    try:
        course = _course_in(address)
        if course is None:
            raise NoGradebookError(f"{name}: holds no gradebook of nbgrader; grade something first, or name another with --db")
        with Gradebook(url, course) as gradebook:
            yield gradebook
    except (SQLAlchemyError, ImportError) as error:
        raise NoGradebookError(f"{name}: {database_trouble(error)}") from None


def _course_in(address: sqlalchemy.URL) -> str | None:
    """A course that a gradebook knows: nbgrader writes any other into it. None if there are no tables, which it would make."""
    engine = sqlalchemy.create_engine(address)
    try:
        with engine.connect() as connection:
            if not sqlalchemy.inspect(connection).has_table(Course.__tablename__):
                return None
            return connection.execute(sqlalchemy.select(Course.id)).scalars().first()
    finally:
        engine.dispose()


def database_trouble(error: Exception) -> str:
    """Why a database cannot be used, in one line, and what to do if that is known."""
    said = " ".join(str(getattr(error, "orig", None) or error).split())
    if "database is locked" in said:
        return "the gradebook is locked by another program, perhaps nbgrader or formgrader at work; try again when it is done"
    if "no such column" in said or "UndefinedColumn" in said:
        return f"the gradebook is of another version of nbgrader ({said}); see nbgrader db upgrade"
    if isinstance(error, ImportError):
        return f"{said}, which this database needs; install it with pip install {error.name}"
    return said
