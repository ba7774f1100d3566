"""Export plug-ins for nbgrader that write the marks of a class into a file; those for each LMS are in ``lms_exporters.py``.

Marks count as in nbgrader's own export: points, less the penalty for lateness, never below 0.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Bool, Unicode

from autograder.classroom.course import step_folder
from autograder.classroom.csv_cells import formula_safe
from autograder.classroom.csv_tables import TableError
from autograder.classroom.deadlines import Deadlines, read_deadlines
from autograder.classroom.dropped import dropped_exercises
from autograder.classroom.gradebook.class_marks import ClassMarks, SubmissionPoints, read_marks
from autograder.classroom.gradebook.lateness import LateWork, late_work
from autograder.classroom.grading.class_to_mark import ClassToMark
from autograder.classroom.grading.marks_store import MarksStore
from autograder.classroom.returning.lms_sheets import Sheet, SheetError, match_rows, points_text, read_sheet
from autograder.classroom.students import Student
from autograder.support.atomic_files import written_atomically

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory


DECIMALS = 10
"""Of points in nbgrader's own format: enough for thirds, and a point less 0.9 is 0.1."""


class FileExporter(ExportPlugin):
    """What all exporters have in common. nbgrader's options ``--to``, ``--assignment`` and ``--student`` work."""

    file_name = "grades.csv"
    course: CourseDirectory | None = None

    def sheet(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        """The contents of the file, and notes for the instructor, a line each.

        Raises:
            SheetError: it cannot be made.
            OSError: a file that is to be filled in cannot be read.
        """
        raise NotImplementedError

    def write(self, gradebook: Gradebook) -> list[str]:
        """Write the file atomically.

        Returns:
            Notes for the instructor, a line each.

        Raises:
            SheetError: the file cannot be made; nothing has been written.
            TableError: the table of dropped exercises or that of deadlines cannot be used.
            OSError: a file cannot be read or written.
        """
        dropped = dropped_exercises(self._course) if self._course else frozenset()
        marks = read_marks(gradebook, [str(one) for one in self.assignment], [str(one) for one in self.student], dropped)
        replaced = self._replaced()
        counting = {key: points for key, points in marks.submissions.items() if key not in replaced}
        marks = replace(marks, submissions=counting, unmarked=self._handed_in() - counting.keys())
        marks = replace(marks, not_due=self._not_due(marks) - marks.unmarked)
        sheet, notes = self.sheet(marks)
        with written_atomically(self.target) as unfinished:
            unfinished.write_bytes(sheet.data())
        left_out = [
            f"{name} of {unit} does not count, so left out" for unit, name in sorted(dropped) if unit in marks.max_scores
        ]
        return [
            *left_out,
            *_ungraded(marks),
            *marks.still_by_hand(_exported(marks)),
            *_unmarked(marks),
            *self._remarks_on_lateness(gradebook, marks),
            *notes,
        ]

    @property
    def _course(self) -> CourseDirectory | None:
        return self.course or getattr(self.parent, "coursedir", None)

    def _handed_in(self) -> frozenset[tuple[str, str]]:
        """(student, unit) of everything in ``submitted/``."""
        course = self._course
        if course is None:
            return frozenset()
        places = step_folder(course, course.submitted_directory).glob("*/*")
        return frozenset((place.parent.name, place.name) for place in places if place.is_dir())

    def _replaced(self) -> frozenset[tuple[str, str]]:
        """(student, unit) of what was marked and has been handed in again since."""
        if self._course is None or not MarksStore(Path(self._course.root)).folder.is_dir():
            return frozenset()
        marked_class = ClassToMark(Path(self._course.root))
        return marked_class.replaced(marked_class.handed_in()[0])

    def _not_due(self, marks: ClassMarks) -> frozenset[tuple[str, str]]:
        """(student, unit) of everything that the gradebook has no submission of, and that is not due yet for this student."""
        deadlines = read_deadlines(self._course) if self._course else Deadlines()
        now = datetime.now(UTC).replace(tzinfo=None)
        return frozenset(
            (student.id, unit)
            for unit, due in marks.due.items()
            for student in marks.students
            if (student.id, unit) not in marks.submissions
            and due is not None
            and due + (deadlines.extra_time(student.id, unit) or timedelta()) > now
        )

    def _remarks_on_lateness(self, gradebook: Gradebook, marks: ClassMarks) -> list[str]:
        found = late_work(self._course, gradebook) if self._course else LateWork()
        return found.remarks(_exported(marks))

    def export(self, gradebook: Gradebook) -> None:
        """Called by ``nbgrader export``."""
        try:
            for note in self.write(gradebook):
                self.log.warning(note)
        except (SheetError, TableError, OSError) as error:
            self.log.error(str(error))
            sys.exit(2)
        self.log.info("Exported grades to %s", self.target)

    @property
    def target(self) -> Path:
        return Path(self.to or self.file_name)


class NbgraderExporter(FileExporter):
    """nbgrader's own CSV: a line for each student and unit, with 0 for a unit that was due and not handed in.

    The cells of a unit are empty if it is not due yet for a student, or was handed in and is not marked yet.

    nbgrader's own exporter does not quote cells, so a comma in a name shifts the marks of that line into the wrong columns.
    """

    def sheet(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        header = (
            *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
            *("raw_score", "late_submission_penalty", "score", "max_score"),
        )
        rows = []
        for unit, max_score in marks.max_scores.items():
            for student in marks.students:
                entry = marks.submissions.get((student.id, unit), SubmissionPoints(0.0, 0.0, None, False))
                times = [str(time) if time else "" for time in (marks.due[unit], entry.timestamp)]
                who = [formula_safe(text) for text in (student.id, student.last_name, student.first_name, student.email)]
                points = [str(round(number, DECIMALS)) for number in (entry.points, entry.penalty, entry.score)]
                if (student.id, unit) in marks.unmarked | marks.not_due:
                    points = [""] * len(points)
                rows.append((unit, *times, *who, *points, str(max_score)))
        return Sheet(header, tuple(rows)), []


class LmsExporter(FileExporter):
    """Marks for a learning management system: a line for each student, a column for each unit.

    They go into a new file or into one that the LMS exported. A unit that was not handed in leaves its cell unchanged.
    """

    gradebook = Unicode("", help="A file exported there: it is filled in, its lines and ids are kept.").tag(config=True)
    missing_as_zero = Bool(False, help="Whether a unit that was due and not handed in counts as 0.").tag(config=True)

    keys: Mapping[str, Sequence[str]] = {}
    """Columns of an exported file that identify a student, with the attributes of students that they may hold."""

    name_column = ""
    """A column of an exported file whose text students may have chosen, and which the LMS ignores when it imports the file."""

    def sheet(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        return self.filled(marks, Path(self.gradebook)) if self.gradebook else self.fresh(marks)

    def fresh(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        """A new file with the marks.

        Raises:
            SheetError: the LMS takes no file that it has not made.
        """
        raise NotImplementedError

    def columns(self, sheet: Sheet, marks: ClassMarks) -> tuple[Sheet, dict[str, int], list[str]]:
        """Find or add the columns of the units in an exported file.

        Returns:
            The file with a column for each unit that can have one, the index of that column by unit, and notes.
        """
        raise NotImplementedError

    def cell(self, marks: ClassMarks, student: Student, unit: str) -> str:
        """Points as text; empty if there are none to report."""
        if entry := marks.submissions.get((student.id, unit)):
            return points_text(entry.score)
        return "0" if self.missing_as_zero and (student.id, unit) not in marks.unmarked | marks.not_due else ""

    def filled(self, marks: ClassMarks, path: Path) -> tuple[Sheet, list[str]]:
        """An exported file with the marks filled in."""
        sheet = read_sheet(path)
        try:
            if all(sheet.column(name) is None for name in self.keys):
                raise SheetError(f"none of the columns {', '.join(self.keys)} is there, so its lines cannot be told apart")
            whose = match_rows(sheet, self.keys, marks.students)
            sheet, columns, notes = self.columns(sheet, marks)
        except SheetError as error:
            raise SheetError(f"{path}: {error}") from None
        cells: dict[tuple[int, int], str] = {}
        kept: list[str] = []
        for i, student in whose.items():
            for unit, column in columns.items():
                before, points = sheet.rows[i][column].strip(), self.cell(marks, student, unit)
                if before.upper() in ("EX", "N/A"):
                    kept.append(f"{unit} of {student.id} ({before})")
                elif points:
                    cells[i, column] = points
        if (names := sheet.column(self.name_column)) is not None:
            cells |= {(i, names): formula_safe(row[names]) for i, row in enumerate(sheet.rows)}
        if kept:
            notes.append(f"excused or not assigned there, so left as it was: {', '.join(kept)}")
        return sheet.with_cells(cells), [*notes, *self._strangers(sheet, marks, whose, path)]

    def _strangers(self, sheet: Sheet, marks: ClassMarks, whose: Mapping[int, Student], path: Path) -> list[str]:
        """Notes on students who are in only one of the two gradebooks."""
        found = {student.id for student in whose.values()}
        without = sorted(student.id for student in marks.students if student.id not in found)
        others = [
            _row_name(sheet, self.keys, row) for i, row in enumerate(sheet.rows) if i not in whose and self.is_student(row)
        ]
        notes = [f"not in {path}, so their marks are not in it: {', '.join(without)}"] if without else []
        return notes + ([f"in {path}, but not in the class: {'; '.join(others)}"] if others else [])

    def is_student(self, row: Sequence[str]) -> bool:
        """Whether a row of an exported file is about a student."""
        return any(row)


def _exported(marks: ClassMarks) -> Callable[[tuple[str, str]], bool]:
    """Tells of a (student, unit) whether its marks are exported."""
    students = {student.id for student in marks.students}
    return lambda one: one[0] in students and one[1] in marks.max_scores


def _ungraded(marks: ClassMarks) -> list[str]:
    """A note for each unit with answers that a person has yet to grade."""
    students = {student.id for student in marks.students}
    waiting: dict[str, list[str]] = {}
    for (student, unit), entry in marks.submissions.items():
        if entry.needs_manual_grade and student in students and unit in marks.max_scores:
            waiting.setdefault(unit, []).append(student)
    return [f"{unit} has answers that nobody has graded yet: {', '.join(sorted(ids))}" for unit, ids in sorted(waiting.items())]


def _unmarked(marks: ClassMarks) -> list[str]:
    """A note for each unit with submissions that are not in the gradebook."""
    enrolled = {student.id for student in marks.students}
    units = {unit: sorted(s for s, one in marks.unmarked if one == unit and s in enrolled) for unit in sorted(marks.max_scores)}
    return [f"{unit} was handed in, but is not marked, so left empty: {', '.join(ids)}" for unit, ids in units.items() if ids]


def _row_name(sheet: Sheet, keys: Mapping[str, Sequence[str]], row: Sequence[str]) -> str:
    """What to call a row that belongs to no student of the class: its first cell and the cells that identify it."""
    ids = [row[column] for name in keys if (column := sheet.column(name)) is not None and row[column]]
    return " ".join(dict.fromkeys([row[0], *ids]))
