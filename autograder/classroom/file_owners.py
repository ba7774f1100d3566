"""Whose a file is where its name does not say: a table from the numbers and names that an LMS gives files to students."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.classroom.csv_tables import ClassTable, TableError
from autograder.classroom.students import id_problem

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

FILE_OWNERS = ClassTable("file_owners.csv", ("file", "student"))
"""``file`` is an LMS's number, as in ``Ada Lovelace_12345_assignsubmission_file``, or the whole name of a file or folder."""


def file_key(text: str) -> str:
    """A number or name as it is compared with others: ``Participant 12345``, as Moodle writes it elsewhere, is ``12345``.

    Capitals count: two anonymous names of Canvas may differ by nothing else.
    """
    return " ".join(text.replace("_", " ").split()).removeprefix("Participant ")


def read_file_owners(course: CourseDirectory) -> dict[str, str]:
    """The ids of students by :func:`file_key`. Rows without a student, which are still to be filled in, are left out.

    Raises:
        TableError: the table cannot be used; each bad cell is named.
        OSError: it cannot be read.
    """
    owners: dict[str, str] = {}
    problems = []
    for row in FILE_OWNERS.rows(course):
        key, student = file_key(row["file"]), row["student"]
        if not student:
            continue
        if not key:
            problems.append(row.problem("file", "is empty; write the LMS's number, or the name of a file"))
        elif reason := id_problem(student):
            problems.append(row.problem("student", reason))
        elif owners.setdefault(key, student) != student:
            problems.append(row.problem("student", f"{row['file']!r} is here for the second time, with another student"))
    if problems:
        raise TableError("\n".join(problems))
    return owners
