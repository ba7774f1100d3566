"""Deletes everything that a class holds about a student who has left: files, rows of tables, and what the gradebook knows."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import InvalidEntry, MissingEntry
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
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.regrades import REGRADES

MAX_SEARCHED_BYTES = 256 * 2**20
"""Bytes of a file in the class's folder that is searched for the student's id."""

TABLES = (DEADLINES, FILE_OWNERS, REGRADES)
"""Tables of a class with rows about a student."""


@dataclass(frozen=True)
class Kept:
    """What a class holds about one student.

    Attributes:
        folders: of the student's files: what was handed in, now and earlier, marked notebooks, feedback, marks.
        in_gradebook: whether the gradebook knows the student.
        tables: of the class, with rows about the student.
    """

    folders: tuple[Path, ...]
    in_gradebook: bool
    tables: tuple[Path, ...]


def kept_of(marked_class: ClassToMark, student: str) -> Kept:
    """What the class holds about a student; nothing is changed.

    Raises:
        NoGradebookError: the gradebook cannot be read.
    """
    course, directory = marked_class.coursedir, marked_class.directory
    steps = (course.submitted_directory, course.autograded_directory, course.feedback_directory)
    parents = [step_folder(course, step) for step in steps]
    parents += [directory / "submitted-earlier", marked_class.store.folder]
    folders = tuple(folder for parent in parents if (folder := parent / student).is_dir() and not folder.is_symlink())
    tables = tuple(table.path(course) for table in TABLES if any(row["student"] == student for row in table.rows(course)))
    return Kept(folders, _is_in_gradebook(course, student), tables)


def forget(marked_class: ClassToMark, student: str, kept: Kept) -> tuple[Path, ...]:
    """Delete what the class holds about a student: first rows of tables, then files, last the entry in the gradebook.

    If it is interrupted, it can be called again and goes on.

    Returns:
        Files directly in the class's folder, such as reports, in which the student's id still stands.

    Raises:
        TableError: a table of the class cannot be used; nothing has been deleted.
        NoGradebookError: the gradebook cannot be written to.
        OSError: a file cannot be deleted.
    """
    for table in TABLES:
        rows = table.rows(marked_class.coursedir)
        if any(row["student"] == student for row in rows):
            table.write(marked_class.coursedir, (row.cells for row in rows if row["student"] != student))
    for folder in kept.folders:
        shutil.rmtree(folder)
    if kept.in_gradebook:
        with open_gradebook(marked_class.coursedir.db_url) as gradebook:
            try:
                gradebook.remove_student(student)
            except (SQLAlchemyError, InvalidEntry) as error:
                trouble = f"{database_name(marked_class.coursedir.db_url)}: {database_trouble(error)}"
                raise NoGradebookError(f"{student} is still in the gradebook: {trouble}") from None
    return _mentions(marked_class.directory, student)


def _is_in_gradebook(course: CourseDirectory, student: str) -> bool:
    if not gradebook_exists(course.db_url):
        return False
    with open_gradebook(course.db_url) as gradebook:
        try:
            gradebook.find_student(student)
        except MissingEntry:
            return False
    return True


def _mentions(directory: Path, student: str) -> tuple[Path, ...]:
    files = [path for path in sorted(directory.glob("*")) if path.is_file() and path.suffix not in (".db", ".py", ".lock")]
    files = [path for path in files if path.stat().st_size <= MAX_SEARCHED_BYTES]
    return tuple(path for path in files if student.encode() in path.read_bytes())
