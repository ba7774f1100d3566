"""Reads Moodle's grading worksheet: whose the numbers in its downloads are, and when each student handed in.

Its columns and how it writes times are taken from Moodle's ``mod/assign/gradingtable.php`` and language packs, English and
English (United States).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.csv_tables import Row, TableError, read_table
from autograder.classroom.deadlines import moment, read_deadlines
from autograder.classroom.file_owners import FILE_OWNERS, file_key, read_file_owners
from autograder.classroom.gradebook.enrolment import enrolled
from autograder.classroom.intake.source_files import UnreadableFileError
from autograder.classroom.intake.student_matching import Students
from autograder.classroom.intake.submitted_store import (
    TAKEN,
    UNCHANGED,
    NotFromMoodleError,
    OtherAssignmentError,
    OtherTimeError,
    SubmittedStore,
)
from autograder.support.counted import counted

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

WHO = ("username", "id number", "email address")
"""Columns that identify a student, where a worksheet has them."""

HANDED_IN = "last modified (submission)"
NOT_HANDED_IN = ("", "-")

TIMES = ("%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p")
"""``Sunday, 22 November 2026, 6:30 PM``, and the same in American English. Seconds are left out."""

OTHER_ASSIGNMENT = "so it seems to be another assignment's, and none of its times is noted; give that of the unit's own"
UNMATCHED = f"matches no single student of the class; unless they have left it, add it to {FILE_OWNERS.name} by hand"


@dataclass(frozen=True)
class Worksheet:
    """What a grading worksheet says of one unit.

    Attributes:
        added, known: how many of its numbers were added to the table of files, and were there before.
        times: by student, when work was handed in, in UTC and without a time zone, and under which number; None if nothing
            says in which zone the times are written.
        strangers: a line for each row that identifies no student.
    """

    added: int
    known: int
    times: Mapping[str, tuple[datetime, str]] | None
    strangers: tuple[str, ...]


def take_worksheet(course: CourseDirectory, unit: str, worksheet: Path) -> Worksheet:
    """Read Moodle's grading worksheet, and add its numbers to the table of files, each with the student of its row.

    Moodle writes times without a time zone; they are read in that of the unit's due date, and not at all if it has none.

    Raises:
        TableError: the worksheet or a table of the class cannot be used, or they contradict each other; nothing was written.
        NoGradebookError: the gradebook cannot be read.
        OSError: a file cannot be read or written.
    """
    due = read_deadlines(course).due.get(unit)
    zone = moment(due).tzinfo if due else None
    students, owners = Students(*enrolled(course.db_url)), read_file_owners(course)
    rows = read_table(
        worksheet,
        ("identifier", HANDED_IN) if zone else ("identifier",),
        WHO,
        advice="give Moodle's grading worksheet, downloaded with Moodle in English",
    )
    added: dict[str, str] = {}
    times: dict[str, tuple[datetime, str]] = {}
    contradictions, misread, strangers = [], [], []
    for row in rows:
        key, identified = file_key(row["identifier"]), _student_of(row, students)
        owner = owners.get(key, identified)
        if identified and owner != identified:
            there = f"{FILE_OWNERS.path(course)} says that {row['identifier']!r} is {owner!r}"
            contradictions.append(row.problem("identifier", f"{there}, not {identified!r}; correct one of the two"))
        if not (key and owner):
            strangers.append(f"{row.place}: {row['identifier']!r} {UNMATCHED}")
            continue
        if key not in owners:
            added[row["identifier"]] = owner
        if zone and row[HANDED_IN] not in NOT_HANDED_IN:
            try:
                times[owner] = _time(row[HANDED_IN]).replace(tzinfo=zone).astimezone(UTC).replace(tzinfo=None), key
            except ValueError as error:
                misread.append(row.problem(HANDED_IN, str(error)))
    if misread:  # of one kind, as a rule: the form of all times
        more = f" (so has {counted(len(misread) - 1, 'other row')})" if misread[1:] else ""
        contradictions.append(misread[0] + more)
    if contradictions:
        raise TableError("\n".join(contradictions))
    before = [row.cells for row in FILE_OWNERS.rows(course)]
    FILE_OWNERS.write(course, [*before, *({"file": file, "student": student} for file, student in added.items())])
    known = len(rows) - len(added) - len(strangers)
    return Worksheet(len(added), known, times if zone else None, tuple(strangers))


@dataclass(frozen=True)
class Times:
    """What became of the times in a worksheet.

    Attributes:
        written: how many were noted.
        known: how many were there before: the same, or those of notebooks that came by another way than Moodle.
        complaints: a line for each student of whom no time was noted, with the reason.
    """

    written: int
    known: int
    complaints: tuple[str, ...]


def note_times(course: CourseDirectory, unit: str, times: Mapping[str, tuple[datetime, str]]) -> Times:
    """Note when each notebook of a unit was handed in, next to it, where no time is noted.

    A notebook that did not come with Moodle's download, or under another number, gets no time: the worksheet knows only of what
    Moodle was handed in one assignment.

    Args:
        course: the class.
        unit: of the worksheet.
        times: of the worksheet, by student.

    Raises:
        OSError: a file cannot be read or written.
    """
    store, done = SubmittedStore.of(course), []
    complaints: list[str] = []
    others: list[str] = []
    elsewhere: list[str] = []
    for student, (time, number) in times.items():
        try:
            done.append(store.put_time(student, unit, time, number))
        except OtherAssignmentError as error:
            others.append(f"{student}, {unit}: {error}")
        except (FileNotFoundError, NotFromMoodleError) as error:
            elsewhere.append(f"{student}, {unit}: {error}")
        except UnreadableFileError as error:
            complaints.append(f"{student}, {unit}: {error}")
        except OtherTimeError as error:
            advice = "it stays; delete that file if the worksheet is right, and give the worksheet again"
            complaints.append(f"{student}, {unit}: {error}, the worksheet {time:%Y-%m-%d %H:%M} UTC; {advice}")
    if TAKEN not in done and len(others) > max(1, len(done)):
        found = f"{len(others)} notebooks of {unit} came from Moodle under other numbers than those of this worksheet"
        return Times(0, done.count(UNCHANGED), (f"{found}, {OTHER_ASSIGNMENT}",))
    if not (done or others) and len(elsewhere) > 1:  # with one of them it is said what is wrong with that one
        return Times(0, 0, (f"no notebook of {unit} came from Moodle under a number of this worksheet, {OTHER_ASSIGNMENT}",))
    return Times(done.count(TAKEN), done.count(UNCHANGED), (*others, *elsewhere, *complaints))


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
