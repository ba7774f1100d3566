"""Marks of a class in files that learning management systems import: export plug-ins for nbgrader.

They count as nbgrader's own export does: points, less what was taken off for being late, never below 0.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Bool, Unicode

from autograder.classroom.course import existing_class
from autograder.classroom.gradebook.reading import ClassMarks, Entry, database, open_gradebook, read_marks
from autograder.classroom.returning.lms_sheets import (
    Sheet,
    SheetError,
    harmless_cell,
    match_rows,
    points_text,
    read_sheet,
    unit_column,
)
from autograder.classroom.students import Student
from autograder.publishing.nbgrader_course import pick_units
from autograder.support.atomic_files import write_atomically


class FileExporter(ExportPlugin):
    """What the exporters of this module have in common. nbgrader's ``--to``, ``--assignment`` and ``--student`` work."""

    file_name = "grades.csv"

    def sheet(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        """The file, and what the instructor should know about it, a line each.

        Raises:
            SheetError: it cannot be made.
            OSError: a file it is made from cannot be read.
        """
        raise NotImplementedError

    def write(self, gradebook: Gradebook) -> list[str]:
        """Write the file, in one go; what the instructor should know about it, a line each.

        Raises:
            SheetError: it cannot be made; nothing has been written.
            OSError: a file cannot be read or written.
        """
        marks = read_marks(gradebook, [str(one) for one in self.assignment], [str(one) for one in self.student])
        sheet, notes = self.sheet(marks)
        write_atomically(self.target, sheet.text())
        return [*_waiting(marks), *notes]

    def export(self, gradebook: Gradebook) -> None:
        """Called by ``nbgrader export``."""
        try:
            for note in self.write(gradebook):
                self.log.warning(note)
        except (SheetError, OSError) as error:
            self.log.error(str(error))
            sys.exit(2)
        self.log.info("Exported grades to %s", self.target)

    @property
    def target(self) -> Path:
        return Path(self.to or self.file_name)


class NbgraderExporter(FileExporter):
    """nbgrader's own CSV: a line for each student and unit, with 0 for a unit not handed in.

    nbgrader's exporter puts no quotes around cells, so that a name with a comma moves all marks of its line into wrong columns.
    """

    def sheet(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        header = ("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email")
        header += ("raw_score", "late_submission_penalty", "score", "max_score")
        rows = []
        for unit, max_score in marks.max_scores.items():
            for student in marks.students:
                entry = marks.entries.get((student.id, unit), Entry(0.0, 0.0, None, False))
                times = [str(time) if time else "" for time in (marks.due[unit], entry.timestamp)]
                who = [harmless_cell(text) for text in (student.id, student.last_name, student.first_name, student.email)]
                rows.append((unit, *times, *who, *map(str, (entry.points, entry.penalty, entry.score, max_score))))
        return Sheet(header, tuple(rows)), []


class LmsExporter(FileExporter):
    """Marks for a learning management system: a line for each student, a column for each unit.

    Whether into a file of its own or into one that was exported there: a unit that was not handed in leaves its cell as it is.
    """

    gradebook = Unicode("", help="A file exported there: it is filled in, its lines and ids are kept.").tag(config=True)
    missing_as_zero = Bool(False, help="Whether a unit that was not handed in counts as 0.").tag(config=True)

    keys: Mapping[str, Sequence[str]] = {}
    """Columns of an exported file that identify somebody, with the attributes of students that they may hold."""

    name_column = ""
    """The column of an exported file with text that students may have chosen themselves, and that is not read when imported."""

    def sheet(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        return self.filled(marks, Path(self.gradebook)) if self.gradebook else self.fresh(marks)

    def fresh(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        """A file of its own."""
        raise NotImplementedError

    def columns(self, sheet: Sheet, marks: ClassMarks) -> tuple[Sheet, dict[str, int], list[str]]:
        """The exported file with a column for each unit, where that is, and what to say about it."""
        raise NotImplementedError

    def cell(self, marks: ClassMarks, student: Student, unit: str) -> str:
        """Points as text; empty if there are none to report."""
        if entry := marks.entries.get((student.id, unit)):
            return points_text(entry.score)
        return "0" if self.missing_as_zero else ""

    def filled(self, marks: ClassMarks, path: Path) -> tuple[Sheet, list[str]]:
        """An exported file with the marks in it."""
        sheet = read_sheet(path)
        try:
            if all(sheet.column(name) is None for name in self.keys):
                raise SheetError(f"none of the columns {', '.join(self.keys)} is there, so its lines cannot be told apart")
            whose = match_rows(sheet, self.keys, marks.students)
            sheet, columns, notes = self.columns(sheet, marks)
        except SheetError as error:
            raise SheetError(f"{path}: {error}") from None
        cells, kept = {}, []
        for i, student in whose.items():
            for unit, column in columns.items():
                before, points = sheet.rows[i][column].strip(), self.cell(marks, student, unit)
                if before.upper() in ("EX", "N/A"):
                    kept.append(f"{unit} of {student.id} ({before})")
                elif points:
                    cells[i, column] = points
        if (names := sheet.column(self.name_column)) is not None:
            cells |= {(i, names): harmless_cell(row[names]) for i, row in enumerate(sheet.rows)}
        if kept:
            notes.append(f"excused or not assigned there, so left as it was: {', '.join(kept)}")
        return sheet.with_cells(cells), [*notes, *self._strangers(sheet, marks, whose, path)]

    def _strangers(self, sheet: Sheet, marks: ClassMarks, whose: Mapping[int, Student], path: Path) -> list[str]:
        """Who is in one gradebook only."""
        found = {student.id for student in whose.values()}
        without = sorted(student.id for student in marks.students if student.id not in found)
        others = [_person(sheet, self.keys, row) for i, row in enumerate(sheet.rows) if i not in whose and self.is_student(row)]
        notes = [f"not in {path}, so their marks are not in it: {', '.join(without)}"] if without else []
        return notes + ([f"in {path}, but not in the class: {'; '.join(others)}"] if others else [])

    def is_student(self, row: Sequence[str]) -> bool:
        """Whether a line of an exported file is about a student."""
        return any(row)


class CanvasExporter(LmsExporter):
    """A gradebook as Canvas imports it.

    Canvas finds students by ``ID``, else by ``SIS User ID``, else by ``SIS Login ID``, else by name; and assignments by the
    number in brackets behind their title, else by title; it asks about those it does not find. It takes commas or semicolons,
    UTF-8 without or with a byte order mark, and an empty cell over points that are there for their removal.
    Source: https://github.com/instructure/canvas-lms, ``lib/gradebook_importer.rb`` and ``lib/gradebook_exporter.rb``.
    """

    file_name = "canvas.csv"
    keys = {"SIS Login ID": ("id", "email"), "SIS User ID": ("id",), "ID": ("lms_user_id",)}  # noqa: RUF012 - never changed
    name_column = "Student"

    def fresh(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        header = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", *marks.max_scores)
        rows = [("    Points Possible", "", "", "", "", *map(points_text, marks.max_scores.values()))]
        for one in marks.students:
            name = ", ".join(filter(None, (one.last_name, one.first_name))) or one.id
            number = one.lms_user_id if one.lms_user_id.isdecimal() else ""  # Canvas reads the digits of anything as a number
            who = (harmless_cell(name), number, "", harmless_cell(one.id), "")
            rows.append((*who, *(self.cell(marks, one, unit) for unit in marks.max_scores)))
        return Sheet(header, tuple(rows)), []

    def columns(self, sheet: Sheet, marks: ClassMarks) -> tuple[Sheet, dict[str, int], list[str]]:
        if sheet.column("Student") != 0 or sheet.column("ID") != 1:
            raise SheetError("does not begin with the columns Student and ID; in Canvas, use Gradebook, Export")
        titles = {k: re.sub(r"\s*\(\d+\)$", "", title) for k, title in enumerate(sheet.header)}
        columns, notes = {}, []
        points = next((i for i, row in enumerate(sheet.rows) if "Points Possible" in row[0]), None)
        for unit, max_score in marks.max_scores.items():
            column = unit_column(sheet, unit, titles)
            if column is None:
                column, sheet = len(sheet.header), sheet.with_column(unit)
                if points is not None:
                    sheet = sheet.with_cells({(points, column): points_text(max_score)})
                notes.append(f"no assignment there is called {unit}; Canvas will ask what to do with the new column")
            elif points is not None:
                notes += _other_maximum(unit, sheet.rows[points][column], max_score)
            columns[unit] = column
        return sheet, columns, notes

    def is_student(self, row: Sequence[str]) -> bool:
        about_assignments = "Points Possible" in row[0] or all(re.match(r"\s*(Muted|Manual Posting.*)?$", cell) for cell in row)
        return not about_assignments and row[0].strip() not in ("Student, Test", "Test Student")


class MoodleExporter(LmsExporter):
    """Grades as Moodle imports them, in UTF-8 with commas.

    Of its own: a file for Grades, Import, where the instructor says which column identifies students and which grade item each
    other column is. Filled in: the grading worksheet of one assignment, or what Grades, Export, Plain text file made. Moodle
    passes over grades above the assignment's maximum without a word.
    Source: https://docs.moodle.org/en/Grade_import and https://github.com/moodle/moodle,
    ``grade/import/csv/classes/load_data.php`` and ``mod/assign/feedback/offline/locallib.php``.
    """

    file_name = "moodle.csv"
    keys = {"Username": ("id",), "ID number": ("id",), "Email address": ("email", "id")}  # noqa: RUF012 - never changed
    name_column = "Full name"

    def fresh(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        titles = [f"Assignment: {unit} (Real)" for unit in marks.max_scores]
        rows = []
        for one in marks.students:
            who = tuple(harmless_cell(text) for text in (one.first_name, one.last_name, one.id, one.email))
            rows.append((*who, *(self.cell(marks, one, unit) for unit in marks.max_scores)))
        nameless = [one.id for one in marks.students if not one.email]
        warning = "no email address, and Moodle gives their grades to the line above if you map by it; map Username instead"
        notes = [f"{warning}: {', '.join(nameless)}"] if nameless else []
        return Sheet(("First name", "Last name", "Username", "Email address", *titles), tuple(rows)), notes

    def columns(self, sheet: Sheet, marks: ClassMarks) -> tuple[Sheet, dict[str, int], list[str]]:
        if sheet.column("Identifier") is not None and (grade := sheet.column("Grade")) is not None:
            return self._worksheet(sheet, grade, marks)
        titles = {k: re.sub(r"^\w+:\s*|\s*\(Real\)$", "", title) for k, title in enumerate(sheet.header)}
        found = {unit: unit_column(sheet, unit, titles) for unit in marks.max_scores}
        if not any(column is not None for column in found.values()):
            problem = "is neither a grading worksheet (with columns Identifier and Grade) nor has it a column for a unit"
            raise SheetError(f"{problem}; download it again, with Moodle in English")
        left_out = [unit for unit, column in found.items() if column is None]
        notes = [f"no column there for {', '.join(left_out)}, left out"] if left_out else []
        return sheet, {unit: column for unit, column in found.items() if column is not None}, notes

    def _worksheet(self, sheet: Sheet, grade: int, marks: ClassMarks) -> tuple[Sheet, dict[str, int], list[str]]:
        if len(marks.max_scores) != 1:
            raise SheetError(f"is the worksheet of one assignment; name its unit, one of {', '.join(marks.max_scores)}")
        ((unit, max_score),) = marks.max_scores.items()
        maximum = sheet.column("Maximum Grade")
        there = {row[maximum] for row in sheet.rows} if maximum is not None else set()
        return sheet, {unit: grade}, [note for text in sorted(there) for note in _other_maximum(unit, text, max_score)]


EXPORTERS = {"nbgrader": NbgraderExporter, "canvas": CanvasExporter, "moodle": MoodleExporter}
"""By what ``gradaccum classroom export --format`` calls them."""


def export_class(
    directory: Path,
    wanted: str,
    *,
    to: Path | None = None,
    units: str = "",
    into: Path | None = None,
    missing_as_zero: bool = False,
    db_url: str = "",
) -> tuple[Path, list[str]]:
    """Write the marks of a class into a file.

    Args:
        directory: of the class.
        wanted: a name in :data:`EXPORTERS`.
        to: the file; by default one of the format's name in the working directory.
        units: such as ``"03,04"``; all in the gradebook for an empty text.
        into: a file exported by the learning management system, to be filled in.
        missing_as_zero: whether a unit that was not handed in counts as 0.
        db_url: address of the gradebook, if not the one in the class's configuration.

    Returns:
        The file, and what the instructor should know about it, a line each.

    Raises:
        ValueError: this cannot be done; one line says why. Nothing has been written.
        OSError: a file cannot be read or written.
    """
    if wanted not in EXPORTERS:
        raise ValueError(f"unknown format {wanted!r}; choose one of {', '.join(EXPORTERS)}")
    course = existing_class(directory)
    exporter = EXPORTERS[wanted](config=course.config)
    if not isinstance(exporter, LmsExporter) and (into or missing_as_zero):
        raise ValueError(f"--into and --missing-as-zero are for canvas and moodle; a file for {wanted} is always made anew")
    if into:
        exporter.gradebook = str(into)
    if missing_as_zero:
        exporter.missing_as_zero = True
    if to:
        exporter.to = str(to)
    with open_gradebook(database(course, db_url)) as gradebook:
        exporter.assignment = list(pick_units({one.name: directory for one in gradebook.assignments}, units))
        if not exporter.assignment:
            raise ValueError(f"{directory}: no unit is in its gradebook yet; hand one out with nbgrader generate_assignment")
        return exporter.target, exporter.write(gradebook)


def _waiting(marks: ClassMarks) -> list[str]:
    students = {student.id for student in marks.students}
    waiting: dict[str, list[str]] = {}
    for (student, unit), entry in marks.entries.items():
        if entry.waits and student in students and unit in marks.max_scores:
            waiting.setdefault(unit, []).append(student)
    return [f"{unit} has answers that nobody has graded yet: {', '.join(sorted(ids))}" for unit, ids in sorted(waiting.items())]


def _other_maximum(unit: str, text: str, max_score: float) -> list[str]:
    try:
        there = float(text.replace(",", "."))
    except ValueError:
        return []
    return [] if there == max_score else [f"{unit} has {points_text(there)} points there and {points_text(max_score)} here"]


def _person(sheet: Sheet, keys: Mapping[str, Sequence[str]], row: Sequence[str]) -> str:
    """A line that is nobody's, by its first cell and by what identifies it."""
    ids = [row[column] for name in keys if (column := sheet.column(name)) is not None and row[column]]
    return " ".join(dict.fromkeys([row[0], *ids]))
