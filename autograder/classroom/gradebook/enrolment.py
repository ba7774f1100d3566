"""Entering students in the gradebook."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from autograder.classroom.gradebook.converters import commands_of_this_python
from autograder.classroom.students import Student


def enrol(students: Iterable[Student], db_url: str) -> None:
    """Add students to nbgrader's gradebook, or bring up to date what it says of them. Nobody and nothing known is deleted.

    Raises:
        NoGradebookError: its database cannot be used.
    """
    from nbgrader.api import Gradebook, MissingEntry
    from sqlalchemy.exc import SQLAlchemyError

    from autograder.classroom.gradebook.reading import NoGradebookError, database_trouble
    from autograder.publishing.nbgrader_course import CONFIG

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
    from autograder.classroom.gradebook.reading import open_gradebook

    with open_gradebook(db_url) as gradebook:
        rows = [(s.id, s.first_name, s.last_name, s.email, s.lms_user_id) for s in gradebook.students]
    students = sorted((Student(*(fact or "" for fact in row)) for row in rows), key=lambda student: student.id)
    return tuple(students), any(row[1:] != (None,) * 4 for row in rows)
