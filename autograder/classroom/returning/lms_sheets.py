"""CSV files of learning management systems: read, filled in, and written again with nothing else changed."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.contract.units import is_called

if TYPE_CHECKING:
    from autograder.classroom.students import Student


class SheetError(ValueError):
    """A CSV file that cannot be filled in. The message is one line: which file, what is wrong with it, and what to do."""


@dataclass(frozen=True)
class Sheet:
    """A CSV file.

    Attributes:
        header: names of its columns.
        rows: its other lines, each with as many cells as the header.
        delimiter: between cells.
        encoding: ``"utf-8"``; ``"utf-8-sig"`` or ``"utf-16"`` if it begins with a byte order mark.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    delimiter: str = ","
    encoding: str = "utf-8"

    def column(self, name: str) -> int | None:
        """The index of the column with this name, ignoring case; None if there is none."""
        return next((k for k, head in enumerate(self.header) if head.strip().casefold() == name.casefold()), None)

    def with_column(self, name: str) -> Sheet:
        """A copy with an empty column at the end."""
        return replace(self, header=(*self.header, name), rows=tuple((*row, "") for row in self.rows))

    def with_cells(self, cells: Mapping[tuple[int, int], str]) -> Sheet:
        """A copy with new texts in the cells at these (row, column)."""
        rows = [tuple(cells.get((i, k), cell) for k, cell in enumerate(row)) for i, row in enumerate(self.rows)]
        return replace(self, rows=tuple(rows))

    def data(self) -> bytes:
        """The contents of the file."""
        file = io.StringIO(newline="")
        csv.writer(file, delimiter=self.delimiter, lineterminator="\n").writerows([self.header, *self.rows])
        return file.getvalue().encode(self.encoding)


def read_sheet(path: Path) -> Sheet:
    """Read a CSV file in UTF-8, or in UTF-16 with a byte order mark, with commas, semicolons or tabs.

    Raises:
        SheetError: it is anything else, or a line has more cells than the header.
        OSError: it cannot be read.
    """
    data = path.read_bytes()
    marks = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
    encoding = next((name for mark, name in marks.items() if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
        delimiter = max(",;\t", key=lambda candidate: len(_first_line(text, candidate)))
        header, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except UnicodeDecodeError:
        raise SheetError(f"{path}: is not in UTF-8; use the file as it was exported, not as a spreadsheet saved it") from None
    except (csv.Error, ValueError):
        raise SheetError(f"{path}: is not a CSV file; export it again") from None
    for row in rows:
        if any(row[len(header) :]):
            raise SheetError(f"{path}: the line of {row[0]!r} has more cells than the header; export it again")
    width = len(header)
    padded = tuple((*row[:width], *[""] * (width - len(row))) for row in rows)
    return Sheet(tuple(header), padded, delimiter, encoding)


def match_rows(sheet: Sheet, keys: Mapping[str, Sequence[str]], students: Iterable[Student]) -> dict[int, Student]:
    """The student of each row, by the index of the row. Rows of strangers are left out.

    Args:
        sheet: the file.
        keys: columns that identify a student, the most reliable first, each with the attributes of students that it may hold.
            Case is ignored.
        students: of the class.

    Raises:
        SheetError: a student has two rows.
    """
    found: dict[int, Student] = {}
    for name, attributes in keys.items():
        column = sheet.column(name)
        if column is None:
            continue
        known = _students_by(attributes, students)
        for i, row in enumerate(sheet.rows):
            if i not in found and (student := known.get(row[column].strip().casefold())):
                found[i] = student
    rows_of: dict[str, int] = {}
    for i, student in sorted(found.items()):
        if student.id in rows_of:
            both = f"{sheet.rows[rows_of[student.id]][0]!r} and {sheet.rows[i][0]!r}"
            raise SheetError(f"{both} would both be {student.id}; correct the ids in one of the gradebooks")
        rows_of[student.id] = i
    return found


def unit_column(sheet: Sheet, unit: str, titles: Mapping[int, str]) -> int | None:
    """The index of the column that is called like a unit, such as *Unit 04: Training loop*, *04_training_loop* or *Unit 4*.

    Args:
        sheet: the file.
        unit: such as ``"04_training_loop"``.
        titles: of the columns to consider, by index.

    Returns:
        The index, or None if there is no such column.

    Raises:
        SheetError: there are several such columns.
    """
    columns = [column for column, title in titles.items() if _calls(title, unit)]
    if len(columns) > 1:
        both = " and ".join(repr(sheet.header[column]) for column in columns)
        raise SheetError(f"{both} are both called like the unit {unit}; rename one")
    return columns[0] if columns else None


def points_text(points: float) -> str:
    """Points as every learning management system reads them: with a decimal point, and at most the five decimals of Moodle."""
    return f"{points:.5f}".rstrip("0").rstrip(".")


def _students_by(attributes: Sequence[str], students: Iterable[Student]) -> dict[str, Student | None]:
    """Students by the values of these attributes; None for a value that two students share. Earlier attributes come first."""
    known: dict[str, Student | None] = {}
    for attribute in attributes:
        students_of: dict[str, Student | None] = {}
        for student in students:
            if value := getattr(student, attribute).strip().casefold():
                students_of[value] = None if value in students_of else student
        known = students_of | known
    return known


def _calls(title: str, unit: str) -> bool:
    """Whether a title is a unit's name, with or without "unit" in front, its words joined anyhow; or "unit" and its number."""
    words = re.sub(r"[\W_]+", "_", title.casefold()).strip("_")
    name = words.removeprefix("unit_")
    return name == unit or (name != words and is_called(unit, name))


def _first_line(text: str, delimiter: str) -> list[str]:
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
