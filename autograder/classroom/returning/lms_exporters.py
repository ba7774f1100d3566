"""Exporters for Canvas, Moodle and Blackboard, see :mod:`autograder.classroom.returning.exporters`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.classroom.csv_cells import formula_safe
from autograder.classroom.gradebook.class_marks import ClassMarks
from autograder.classroom.returning.exporters import LmsExporter
from autograder.classroom.returning.lms_sheets import Sheet, SheetError, points_text, unit_column
from autograder.classroom.students import is_canvas_test_student


class CanvasExporter(LmsExporter):
    """A gradebook as Canvas imports it.

    Canvas finds students by ``ID``, else by ``SIS User ID``, else by ``SIS Login ID``, else by name; and assignments by the
    number in brackets after their title, else by title; it asks about those it does not find. It accepts commas or semicolons
    and UTF-8 with or without a byte order mark. An empty cell removes points that Canvas has.
    Source: https://github.com/instructure/canvas-lms, ``lib/gradebook_importer.rb`` and ``lib/gradebook_exporter.rb``.
    """

    file_name = "canvas.csv"
    keys = {"SIS Login ID": ("id", "email"), "SIS User ID": ("id",), "ID": ("lms_user_id",)}  # noqa: RUF012 - never changed
    name_column = "Student"

    def fresh(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        header = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", *marks.max_scores)
        maxima = map(points_text, marks.max_scores.values())
        rows: list[tuple[str, ...]] = [("    Points Possible", "", "", "", "", *maxima)]
        for one in marks.students:
            name = ", ".join(filter(None, (one.last_name, one.first_name))) or one.id
            number = one.lms_user_id if one.lms_user_id.isdecimal() else ""  # Canvas reads the digits of anything as a number
            who = (formula_safe(name), number, "", formula_safe(one.id), "")
            rows.append((*who, *(self.cell(marks, one, unit) for unit in marks.max_scores)))
        return Sheet(header, tuple(rows)), []

    def columns(self, sheet: Sheet, marks: ClassMarks) -> tuple[Sheet, dict[str, int], list[str]]:
        if sheet.column("Student") != 0 or sheet.column("ID") != 1:
            raise SheetError("does not begin with the columns Student and ID; in Canvas, use Gradebook, Export")
        titles = {k: re.sub(r"\s*\(\d+\)$", "", title) for k, title in enumerate(sheet.header)}
        columns: dict[str, int] = {}
        notes: list[str] = []
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
        return not about_assignments and not is_canvas_test_student(row[0])


class MoodleExporter(LmsExporter):
    """Grades as Moodle imports them, in UTF-8 with commas.

    A new file is for Grades, Import, where the instructor says which column identifies students and which grade item each other
    column is. A file to fill in is the grading worksheet of one assignment, or a file made by Grades, Export, Plain text file.
    Moodle silently skips grades above the assignment's maximum.
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
            who = tuple(formula_safe(text) for text in (one.first_name, one.last_name, one.id, one.email))
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


class BlackboardExporter(LmsExporter):
    """A Grade Center that Blackboard has exported, filled in: it tells columns by numbers of its own, so none is made anew.

    Blackboard finds students by ``Username``. Its files have tabs, in UTF-16, and stay as they are.
    Source: https://help.blackboard.com/Learn/Instructor/Original/Grade/Grading_Tasks/Work_Offline_With_Grade_Data
    """

    file_name = "blackboard.xls"
    keys = {"Username": ("id", "user_name"), "Student ID": ("id",)}  # noqa: RUF012 - never changed
    name_column = "Last Name"

    def fresh(self, marks: ClassMarks) -> tuple[Sheet, list[str]]:
        advice = "in Blackboard, choose Grade Center, Work Offline, Download, and give that file by --into"
        raise SheetError(f"Blackboard takes only marks in a file that it has made; {advice}")

    def columns(self, sheet: Sheet, marks: ClassMarks) -> tuple[Sheet, dict[str, int], list[str]]:
        titles = {k: _TOTAL_POINTS.split(title)[0] for k, title in enumerate(sheet.header)}
        found = {unit: unit_column(sheet, unit, titles) for unit in marks.max_scores}
        columns = {unit: column for unit, column in found.items() if column is not None}
        if not columns:
            raise SheetError("has no column for a unit; call its columns like the units, such as 04_training_loop or Unit 04")
        left_out = [unit for unit in found if unit not in columns]
        notes = [f"no column there for {', '.join(left_out)}, left out"] if left_out else []
        for unit, column in columns.items():
            if total := _TOTAL_POINTS.search(sheet.header[column]):
                notes += _other_maximum(unit, total[1], marks.max_scores[unit])
        return sheet, columns, notes


_TOTAL_POINTS = re.compile(r"\s*\[Total Pts: (?:up to )?([\d.,]*)")
"""What follows the title of a column in a file from Blackboard."""


def _other_maximum(unit: str, text: str, max_score: float) -> list[str]:
    """A note if the LMS's maximum for a unit, a text from its file, differs from ours."""
    try:
        there = float(text.replace(",", "."))
    except ValueError:
        return []
    here = points_text(max_score)
    what = f"{unit} has {points_text(there)} points there and {here} here"
    return [] if there == max_score else [f"{what}; set it to {here} there, or marks look better or worse than they are"]
