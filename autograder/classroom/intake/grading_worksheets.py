"""Reads Moodle's grading worksheet: whose the numbers in its downloads are, and when each student handed in.

Its columns and how it writes times are taken from Moodle's ``mod/assign/gradingtable.php`` and language packs, English and
English (United States).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.csv_tables import Row, TableError, read_table
from autograder.classroom.deadlines import DEADLINES, moment, read_deadlines
from autograder.classroom.file_owners import FILE_OWNERS, file_key, read_file_owners
from autograder.classroom.gradebook.enrolment import enrolled
from autograder.classroom.intake.source_files import UnreadableFileError
from autograder.classroom.intake.student_matching import Students
from autograder.classroom.intake.submitted_store import TAKEN, UNCHANGED, OtherTimeError, SubmittedStore

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

WHO = ("username", "id number", "email address")
"""Columns that identify a student, where a worksheet has them."""

HANDED_IN = "last modified (submission)"
NOT_HANDED_IN = ("", "-")

TIMES = ("%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p")
"""``Sunday, 22 November 2026, 6:30 PM``, and the same in American English. Seconds are left out."""

UNMATCHED = f"matches no single student of the class; unless they have left it, add it to {FILE_OWNERS.name} by hand"


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
        key, student = file_key(row["identifier"]), _student_of(row, students)
        if not (key and student):
            strangers.append(f"{row.place}: {row['identifier']!r} {UNMATCHED}")
        elif known.get(key, student) != student:
            there = f"{FILE_OWNERS.path(course)} says that {row['identifier']!r} is {known[key]!r}"
            problems.append(row.problem("identifier", f"{there}, not {student!r}; correct one of the two"))
        elif key not in known:
            added[row["identifier"]] = student
    if problems:
        raise TableError("\n".join(problems))
    before = [row.cells for row in FILE_OWNERS.rows(course)]
    FILE_OWNERS.write(course, [*before, *({"file": file, "student": student} for file, student in added.items())])
    return Filled(len(added), len(rows) - len(added) - len(strangers), tuple(strangers))


@dataclass(frozen=True)
class Times:
    """What became of the times in a worksheet.

    Attributes:
        written: how many were noted.
        known: how many were there before, the same.
        complaints: a line for each student of whom no time was noted, with the reason.
    """

    written: int
    known: int
    complaints: tuple[str, ...]


def note_times(course: CourseDirectory, unit: str, worksheet: Path) -> Times:
    """Note when each notebook of a unit was handed in, next to it, as Moodle's grading worksheet says, where no time is noted.

    Moodle writes times without a time zone; they are read in that of the unit's due date.

    Raises:
        TableError: the unit has no due date, or the worksheet or a table of the class cannot be used; nothing has been written.
        NoGradebookError: the gradebook cannot be read.
        OSError: a file cannot be read or written.
    """
    due = read_deadlines(course).due.get(unit)
    if not due:
        there = "its worksheet gives times without a time zone, so they are read in that of the due date"
        raise TableError(f"{unit} has no due date in {DEADLINES.path(course)}; {there}; say first when it is due")
    zone = moment(due).tzinfo
    students, known = Students(*enrolled(course.db_url)), read_file_owners(course)
    times: dict[str, datetime] = {}
    problems, complaints = [], []
    for row in read_table(worksheet, ("identifier", HANDED_IN), WHO):
        if row[HANDED_IN] in NOT_HANDED_IN:
            continue
        student = known.get(file_key(row["identifier"])) or _student_of(row, students)
        try:
            time = _time(row[HANDED_IN]).replace(tzinfo=zone).astimezone(UTC).replace(tzinfo=None)
        except ValueError as error:
            problems.append(row.problem(HANDED_IN, str(error)))
            continue
        if student:
            times[student] = time
        else:
            complaints.append(f"{row.place}: {row['identifier']!r} {UNMATCHED}")
    if problems:
        raise TableError("\n".join(problems))
    store, done = SubmittedStore.of(course), []
    for student, time in times.items():
        try:
            done.append(store.put_time(student, unit, time))
        except (FileNotFoundError, UnreadableFileError) as error:
            complaints.append(f"{student}, {unit}: {error}")
        except OtherTimeError as error:
            advice = "it stays; delete that file if the worksheet is right, and give the worksheet again"
            complaints.append(f"{student}, {unit}: {error}, the worksheet {time:%Y-%m-%d %H:%M} UTC; {advice}")
    return Times(done.count(TAKEN), done.count(UNCHANGED), tuple(complaints))


def _student_of(row: Row, students: Students) -> str:
    """The id of the student whom a row identifies; empty if that is not one student."""
    found = students.by_ids([row[column] for column in WHO])
    return found[0].id if len(found) == 1 else ""


def _time(text: str) -> datetime:
    """A time as Moodle writes it in English, without a time zone.

    Raises:
        ValueError: it is none. One line.
    """
    for form in TIMES:
        with contextlib.suppress(ValueError):
            return datetime.strptime(" ".join(text.split()), form)
    raise ValueError(
        f"{text!r} is no time as Moodle writes it in English; download the worksheet again, with Moodle in English"
    )
