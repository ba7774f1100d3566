"""CSV files that instructors write or correct by hand: complaints name the line and the column, and files are written whole."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.contract.units import UNITS, is_called
from autograder.support.atomic_files import write_atomically, written_atomically

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory


class TableError(ValueError):
    """A CSV file that cannot be used. The message has a line for each problem: which file, line and column, and what to do."""


@dataclass(frozen=True)
class Row:
    """A row of a CSV file.

    Attributes:
        place: the file and the line.
        cells: texts by the name of their column, without blanks around them.
    """

    place: str
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def problem(self, column: str, what: str) -> str:
        """A complaint about a cell."""
        return f"{self.place}, column {column}: {what}"


@dataclass(frozen=True)
class ClassTable:
    """A CSV file directly in the folder of a class. Where there is no such file, the table is empty.

    Attributes:
        name: of the file.
        columns: of the table, in order.
    """

    name: str
    columns: tuple[str, ...]

    def path(self, course: CourseDirectory) -> Path:
        return Path(course.root, self.name)

    def rows(self, course: CourseDirectory) -> list[Row]:
        """The rows of the table.

        Raises:
            TableError: the file is no CSV file, or has other columns.
            OSError: it cannot be read.
        """
        path = self.path(course)
        return read_table(path, self.columns) if path.exists() else []

    def write(self, course: CourseDirectory, rows: Iterable[Mapping[str, str]]) -> None:
        """Replace the table. A table without rows has no file.

        Raises:
            OSError: it cannot be written; what was there before is still there.
        """
        cells = [[row[column] for column in self.columns] for row in rows]
        if not cells:
            self.path(course).unlink(missing_ok=True)
            return
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([self.columns, *cells])
        write_atomically(self.path(course), text.getvalue())

    @contextlib.contextmanager
    def kept_on_errors(self, course: CourseDirectory) -> Iterator[None]:
        """Put the table back as it was if the block fails."""
        path = self.path(course)
        before = path.read_bytes() if path.exists() else None
        try:
            yield
        except BaseException:
            if before is None:
                path.unlink(missing_ok=True)
            else:
                with written_atomically(path) as unfinished:
                    unfinished.write_bytes(before)
            raise


def read_table(path: Path, columns: Sequence[str], optional: Sequence[str] = (), advice: str = "") -> list[Row]:
    """The rows of a CSV file that has these columns, in any order; empty rows and other columns are left out.

    Args:
        path: of the file.
        columns: names of columns that it must have.
        optional: names of columns that it may have; their cells are empty where it has not.
        advice: what to do if a column is missing; by default how the first line should read.

    Raises:
        TableError: it is no CSV file, has not these columns, or a row has more cells than the first line.
        OSError: it cannot be read.
    """
    lines = csv_rows(path)
    header = [name.casefold() for name in next(lines, (1, []))[1]]
    if missing := [name for name in columns if name not in header]:
        advice = advice or f"the first line should be {','.join([*columns, *optional])}"
        raise TableError(f"{path}, line 1: no column {missing[0]!r}; {advice}")
    rows, problems = [], []
    for line, cells in lines:
        if reason := excess_cells(cells, header):
            problems.append(f"{path}, line {line}: {reason}")
        named = dict(zip(header, [*cells, *[""] * len(header)], strict=False))
        if any(cells):
            rows.append(Row(f"{path}, line {line}", {name: named.get(name, "") for name in (*columns, *optional)}))
    if problems:
        raise TableError("\n".join(problems))
    return rows


def excess_cells(cells: Sequence[str], header: Sequence[str]) -> str:
    """What is wrong with a row that has more cells than the header; empty if it has not."""
    if any(cells[len(header) :]):
        return f"{len(cells)} values where the first line names {len(header)}; put quotation marks around one that has a comma"
    return ""


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file with commas, semicolons or tabs, each with the number of the line in which it ends.

    Raises:
        TableError: it is no CSV file.
        OSError: it cannot be read.
    """
    text = _text(path)
    separator = re.match(r"sep=(.)\r?\n", text)  # Excel writes and reads this
    text = text[separator.end() :] if separator else text
    first = text.partition("\n")[0]
    delimiter = separator[1] if separator else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        for row in reader:
            yield reader.line_num + bool(separator), [value.strip() for value in row]
    except csv.Error as error:
        problem = f"a quotation mark too many or too few ({error})"
        raise TableError(f"{path}, line {reader.line_num}: {problem}; nothing after it can be told apart") from None


def full_unit(text: str) -> str:
    """The id of the unit that a text such as ``"03"`` names; the text itself if it names no unit of the course."""
    return next((unit for unit in UNITS if is_called(unit, text)), text)


def unknown_units(rows: Iterable[Row]) -> list[str]:
    """A complaint for each row whose column ``unit`` names no unit of the course."""
    there = f"there are {', '.join(UNITS)}"
    return [
        row.problem("unit", f"no unit is called {row['unit']!r}; {there}")
        for row in rows
        if full_unit(row["unit"]) not in UNITS
    ]


def _text(path: Path) -> str:
    data = path.read_bytes()
    if data.startswith(b"PK\x03\x04"):
        raise TableError(f"{path}: is a workbook, not a CSV file; save the sheet as CSV (UTF-8)")
    encodings = ("utf-16",) if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig", "cp1252")
    for encoding in encodings:  # spreadsheets on Windows write all three
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    raise TableError(f"{path}: not a CSV file in UTF-8")
