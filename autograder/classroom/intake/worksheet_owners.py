"""Fills in the table of whose files are whose, from what an LMS says about the numbers in its downloads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.csv_tables import TableError, read_table
from autograder.classroom.file_owners import FILE_OWNERS, file_key, read_file_owners
from autograder.classroom.gradebook.enrolment import enrolled
from autograder.classroom.intake.student_matching import Students

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

WHO = ("username", "id number", "email address")
"""Columns of Moodle's grading worksheet that identify a student, where it has them."""

UNMATCHED = f"matches no single student of the class; add it to {FILE_OWNERS.name} by hand"


@dataclass(frozen=True)
class Filled:
    """What was found in a worksheet: how many files were added to the table and known before, and rows of strangers."""

    added: int
    known: int
    strangers: tuple[str, ...]


def fill_file_owners(course: CourseDirectory, worksheet: Path) -> Filled:
    """Add the numbers in Moodle's grading worksheet to the table of files, each with the student whom its row identifies.

    Raises:
        TableError: the worksheet or the table cannot be used, or one contradicts the other; nothing has been written.
        NoGradebookError: the gradebook cannot be read.
        OSError: a file cannot be read or written.
    """
    students, known = Students(*enrolled(course.db_url)), read_file_owners(course)
    added: dict[str, str] = {}
    problems, strangers = [], []
    rows = read_table(worksheet, ("identifier",), WHO)
    for row in rows:
        key = file_key(row["identifier"])
        found = students.by_ids([row[column] for column in WHO])
        if len(found) != 1 or not key:
            strangers.append(f"{row.place}: {row['identifier']!r} {UNMATCHED}")
        elif known.get(key, found[0].id) != found[0].id:
            there = f"{FILE_OWNERS.path(course)} says that {row['identifier']!r} is {known[key]!r}"
            problems.append(row.problem("identifier", f"{there}, not {found[0].id!r}; correct one of the two"))
        elif key not in known:
            added[row["identifier"]] = found[0].id
    if problems:
        raise TableError("\n".join(problems))
    before = [row.cells for row in FILE_OWNERS.rows(course)]
    FILE_OWNERS.write(course, [*before, *({"file": file, "student": student} for file, student in added.items())])
    return Filled(len(added), len(rows) - len(added) - len(strangers), tuple(strangers))
