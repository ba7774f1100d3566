"""Deletes what a class holds about a student who has left, or about one unit of a student: files, rows of tables, marks."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Assignment, InvalidEntry, SubmittedAssignment
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom.course import step_folder
from autograder.classroom.deadlines import DEADLINES
from autograder.classroom.file_owners import FILE_OWNERS
from autograder.classroom.gradebook.database import (
    NoGradebookError,
    database_name,
    database_trouble,
    gradebook_exists,
    open_gradebook,
)
from autograder.classroom.gradebook.enrolment import students_in
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.regrades import REGRADES
from autograder.classroom.students import Student

MAX_SEARCHED_BYTES = 256 * 2**20
"""Bytes of a file in the class's folder that is searched for the student."""

TABLES = (DEADLINES, FILE_OWNERS, REGRADES)
"""Tables of a class with rows about a student."""


@dataclass(frozen=True)
class Kept:
    """What a class holds about one student, or about some units of one.

    Attributes:
        places: folders and files: what was handed in, now and earlier, marked notebooks, feedback, marks.
        student: as the gradebook knows them; None if it does not.
        tables: of the class, with rows about the student.
        units: with marks in the gradebook, if only these are to be deleted; None if the student is.
    """

    places: tuple[Path, ...]
    student: Student | None
    tables: tuple[Path, ...]
    units: tuple[str, ...] | None = None


def kept_of(marked_class: ClassToMark, student: str, units: Sequence[str] = ()) -> Kept:
    """What the class holds about a student; nothing is changed.

    Args:
        marked_class: the class.
        student: an id.
        units: what is about these only, without the tables, which hold decisions; about everything if empty.

    Raises:
        NoGradebookError: the gradebook cannot be read.
    """
    course, directory = marked_class.coursedir, marked_class.directory
    steps = (course.submitted_directory, course.autograded_directory, course.feedback_directory)
    parents = [step_folder(course, step) for step in steps]
    parents += [directory / "submitted-earlier", marked_class.store.folder]
    folders = tuple(folder for parent in parents if (folder := parent / student).is_dir() and not folder.is_symlink())
    if units:
        places = [path for folder in folders for unit in units for path in sorted(folder.glob(f"{unit}*"))]
        return Kept(tuple(places), _known(course, student), (), tuple(_submitted(course, student, units)))
    tables = tuple(table.path(course) for table in TABLES if any(row["student"] == student for row in table.rows(course)))
    return Kept(folders, _known(course, student), tables)


def forget(marked_class: ClassToMark, student: str, kept: Kept) -> tuple[Path, ...]:
    """Delete what the class holds about a student: first rows of tables, then files, last the entry in the gradebook.

    If it is interrupted, it can be called again and goes on.

    Returns:
        Files directly in the class's folder, such as reports, that still name the student.

    Raises:
        TableError: a table of the class cannot be used; nothing has been deleted.
        NoGradebookError: the gradebook cannot be written to.
        OSError: a file cannot be deleted.
    """
    for table in TABLES:
        rows = table.rows(marked_class.coursedir)
        if any(row["student"] == student for row in rows):
            table.write(marked_class.coursedir, (row.cells for row in rows if row["student"] != student))
    for place in kept.places:
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()
    if kept.student:
        with open_gradebook(marked_class.coursedir.db_url) as gradebook:
            try:
                for unit in kept.units or ():
                    gradebook.remove_submission(unit, student)
                if kept.units is None:
                    gradebook.remove_student(student)
            except (SQLAlchemyError, InvalidEntry) as error:
                trouble = f"{database_name(marked_class.coursedir.db_url)}: {database_trouble(error)}"
                raise NoGradebookError(f"{student} is still in the gradebook: {trouble}") from None
    return _mentions(marked_class.directory, kept.student or Student(student))


def _submitted(course: CourseDirectory, student: str, units: Sequence[str]) -> list[str]:
    """Those of these units of which the gradebook has a submission of the student."""
    if not gradebook_exists(course.db_url):
        return []
    with open_gradebook(course.db_url) as gradebook:
        found = gradebook.db.query(Assignment.name).join(
            SubmittedAssignment, SubmittedAssignment.assignment_id == Assignment.id
        )
        return [name for (name,) in found.filter(SubmittedAssignment.student_id == student) if name in units]


def _known(course: CourseDirectory, student: str) -> Student | None:
    if not gradebook_exists(course.db_url):
        return None
    with open_gradebook(course.db_url) as gradebook:
        return next((one for one in students_in(gradebook) if one.id == student), None)


def _mentions(directory: Path, student: Student) -> tuple[Path, ...]:
    """Files that hold the id, the address, or first and last name in either order, as names of files in an archive do, too."""
    names = [re.escape(name) for name in (student.first_name, student.last_name)]
    orders = [names, names[::-1]] if all(names) else []
    texts = [re.escape(student.id), re.escape(student.email), *(r"(?i:" + r"\W{0,3}".join(order) + ")" for order in orders)]
    pattern = re.compile("|".join(rf"(?<![^\W_]){text}(?![^\W_])" for text in texts if text).encode())
    files = [path for path in sorted(directory.glob("*")) if path.is_file() and path.suffix not in (".db", ".py", ".lock")]
    files = [path for path in files if path.stat().st_size <= MAX_SEARCHED_BYTES]
    return tuple(path for path in files if pattern.search(path.read_bytes().replace(b"\0", b"")))  # UTF-16 has zeros in between
