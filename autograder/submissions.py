"""Read what a student hands in: a file becomes a unit and code to run. Nothing is executed here."""

from __future__ import annotations

import io
import json
import stat
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.units import UNITS, unit_in

LARGEST = 100 * 2**20
"""Bytes a file may have. Notebooks of this course have some 10⁵; what is larger by this much is outputs run wild."""


class SubmissionError(ValueError):
    """A file that cannot be marked. The message is one line: which file, what is wrong with it, what to do."""

    def __init__(self, path: str | Path, problem: str):
        super().__init__(one_line(f"{path}: {problem}"))


@dataclass(frozen=True)
class Cell:
    """Code that stands together, and how to name it to the student."""

    name: str
    source: str


@dataclass(frozen=True)
class Submission:
    """A file that can be marked.

    Attributes:
        path: as it was given.
        unit: which unit it answers.
        cells: code to run, in order; without the checks that marking puts in itself.
    """

    path: Path
    unit: str
    cells: tuple[Cell, ...]


def read_submission(path: str | Path) -> Submission:
    """Read a notebook or a Python file.

    Raises:
        SubmissionError: it is not there, or neither of the two, or not of this course.
    """
    path = Path(path)
    data = _read_bytes(path)
    if path.suffix.lower() == ".py":
        return _read_script(path, data)
    return _read_notebook(path, data)


def one_line(text: str) -> str:
    """A text with everything that is not printable, line ends and terminal codes included, replaced by a blank."""
    return "".join(character if character.isprintable() else " " for character in text)


def _read_bytes(path: Path) -> bytes:
    try:
        status = path.stat()
        readable = stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST
        data = path.read_bytes() if readable else b""
    except FileNotFoundError:
        raise SubmissionError(path, "there is no such file; check its name and folder") from None
    except (OSError, ValueError) as error:
        raise SubmissionError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if stat.S_ISDIR(status.st_mode):
        raise SubmissionError(path, "is a directory; name the notebooks or Python files in it")
    if not stat.S_ISREG(status.st_mode):
        raise SubmissionError(path, "is not a file; name a notebook or a Python file")
    if not readable:
        size = f"{status.st_size / 2**20:.0f} MB is more than the {LARGEST / 2**20:.0f} MB that are read"
        raise SubmissionError(path, f"{size}; clear the outputs of the notebook and save it again")
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        raise SubmissionError(path, "the file is empty; save your work again or hand in another copy")
    return data


def _read_script(path: Path, data: bytes) -> Submission:
    unit = unit_in(path.stem)
    if unit is None:
        raise SubmissionError(path, "its name is no unit; name it after the one it answers, such as 04_training_loop.py")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        source = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        source = "\0"
    if "\0" in source:
        raise SubmissionError(path, "is not text, so not a Python file; save it as UTF-8 text")
    return Submission(path, unit, (Cell(path.name, _with_plain_line_ends(source)),))


def _read_notebook(path: Path, data: bytes) -> Submission:
    content = _read_json(path, data)
    if not isinstance(content, dict) or not (isinstance(content.get("cells"), list) or "worksheets" in content):
        raise SubmissionError(path, "is JSON, but not a notebook; hand in the .ipynb file you worked in")
    if "cells" not in content:
        content = _upgraded(path, content)
    code = [cell for cell in content["cells"] if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    if not code:
        raise SubmissionError(path, "is a notebook without code cells; hand in the one you worked in")
    unit = _unit_of(path, content, code)
    cells = [Cell(f"code cell {k}", _source_of(cell)) for k, cell in enumerate(code, 1) if not _is_graded_check(cell)]
    return Submission(path, unit, tuple(cell for cell in cells if cell.source.strip()))


def _read_json(path: Path, data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        if path.suffix.lower() != ".ipynb":
            raise SubmissionError(path, "is neither a notebook (.ipynb) nor a Python file (.py)") from None
        place = f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else "its encoding"
        problem = f"is not JSON (see {place}), so not a notebook; save it again or hand in another copy"
        raise SubmissionError(path, problem) from None


def _upgraded(path: Path, content: dict) -> dict:
    """A notebook of format 3 or older as one of format 4."""
    try:
        from nbformat import convert, from_dict

        return convert(from_dict(content), 4)
    except ImportError:
        raise SubmissionError(path, "its format is older than 4; install nbformat, or open and save it in Jupyter") from None
    except Exception:  # a damaged file can make the conversion fail in any way
        raise SubmissionError(path, "is an old or damaged notebook; open it in Jupyter and save it again") from None


def _unit_of(path: Path, content: dict, code: list[dict]) -> str:
    """What the release wrote into the notebook; else whose exercises its cells are; else what the file is called."""
    released_as = _get(content, "metadata", "gradaccum", "unit")
    if released_as in UNITS:
        return released_as
    units = set(_units_of_exercises(code))
    if len(units) == 1:
        return units.pop()
    if unit := unit_in(path.stem):
        return unit
    problem = "no unit of this course can be recognised in it; hand in a notebook of the course, or name it after its unit"
    raise SubmissionError(path, f"{problem}, such as 04_training_loop.ipynb")


def _units_of_exercises(code: list[dict]) -> Iterator[str]:
    grade_ids = [grade_id for cell in code if isinstance(grade_id := _get(cell, "metadata", "nbgrader", "grade_id"), str)]
    if not grade_ids:
        return
    import autograder.exercises  # noqa: F401 - registers them; only now, because it imports torch
    from autograder.exercise import EXERCISES

    for grade_id in grade_ids:
        exercise = EXERCISES.get(grade_id.removesuffix("-solution"))
        if exercise:
            yield exercise.unit


def _is_graded_check(cell: dict) -> bool:
    """Whether this is a cell that marks, not one that students write in: marking observes their functions by itself."""
    roles = _get(cell, "metadata", "nbgrader")
    return isinstance(roles, dict) and roles.get("grade") is True and roles.get("solution") is not True


def _source_of(cell: dict) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return _with_plain_line_ends(source) if isinstance(source, str) else ""


def _with_plain_line_ends(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _get(content: object, *keys: str) -> Any:
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content
