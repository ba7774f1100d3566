"""Read what a student hands in: a file becomes a unit and code to run. Nothing is executed here."""

from __future__ import annotations

import io
import stat
import tokenize
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.contract.units import UNITS, unit_in
from autograder.reading.notebook_json import (
    ALL_TEXT,
    LONGEST,
    UnreadableError,
    WrittenCell,
    clean,
    json_of,
    unit_named_in,
    written_cells,
)
from autograder.reading.python_source import definitions
from autograder.reading.rebuilding import recover
from autograder.released import exercises_in, released_content, unit_of_exercise

if TYPE_CHECKING:
    from nbformat import NotebookNode
from autograder.contract.cell import Cell
from autograder.support.one_line import one_line

LARGEST = 256 * 2**20
"""Bytes a file may have. Notebooks of this course have some 10⁵; what is larger by this much is outputs run wild."""


class SubmissionError(ValueError):
    """A file that cannot be marked. The message is one line: which file, what is wrong with it, what to do."""

    def __init__(self, path: str | Path, problem: str):
        super().__init__(one_line(f"{path}: {problem}"))


@dataclass(frozen=True)
class Submission:
    """A file that can be marked.

    Attributes:
        path: as it was given.
        unit: which unit it answers.
        cells: code to run, in order; without the checks that marking puts in itself.
        content: the notebook of these cells (see :func:`autograder.reading.rebuilding.sanitise`) as plain data; None for a
            Python file and for a unit that has not been released.
    """

    path: Path
    unit: str
    cells: tuple[Cell, ...]
    content: dict | None = field(default=None, repr=False)

    @cached_property
    def notebook(self) -> NotebookNode | None:
        """``content`` for notebook libraries."""
        if self.content is None:
            return None
        from nbformat import from_dict

        return from_dict(self.content)


def read_submission(path: str | Path, unit: str | None = None) -> Submission:
    """Read a notebook or a Python file; ``unit`` is the one it has to answer, whatever it is called.

    Raises:
        SubmissionError: it is not there, or neither of the two, or not of this course, or obviously of another unit.
    """
    path = Path(path)
    data = _read_bytes(path)
    if unit and (other := _recognised(path, data)) not in (unit, None):
        raise SubmissionError(path, f"answers unit {other}, not {unit}; hand in the one of {unit}")
    return parse_submission(path, data, unit)


def parse_submission(path: Path, data: bytes, unit: str | None = None, template: dict | None = None) -> Submission:
    """Make sense of the bytes of a file, which need not exist.

    Args:
        path: what to call it; its ending says whether it is Python, its name may say the unit.
        data: its bytes.
        unit: which unit it answers, if that is known.
        template: the notebook that was released, if it is not the course's own.

    Raises:
        SubmissionError: it is neither a notebook nor Python, or not of this course.
    """
    try:
        if not data.strip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"):
            raise UnreadableError("the file is empty; save your work again or hand in another copy")
        if len(data) > LARGEST:
            problem = f"is larger than the {LARGEST / 2**20:.0f} MB that are read"
            raise UnreadableError(f"{problem}; clear the outputs of the notebook and save it again")
        if path.suffix.lower() == ".py":
            return _parse_script(path, data, unit)
        return _parse_notebook(path, data, unit, template)
    except UnreadableError as error:
        raise SubmissionError(path, str(error)) from None


def _recognised(path: Path, data: bytes) -> str | None:
    """The unit that a file answers by itself, None if that cannot be told."""
    try:
        return parse_submission(path, data).unit
    except SubmissionError:
        return None


def _read_bytes(path: Path) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            with path.open("rb") as file:
                return file.read(LARGEST + 1)
    except FileNotFoundError:
        raise SubmissionError(path, "there is no such file; check its name and folder") from None
    except (OSError, ValueError) as error:
        raise SubmissionError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if stat.S_ISDIR(status.st_mode):
        raise SubmissionError(path, "is a directory; name the notebooks or Python files in it")
    raise SubmissionError(path, "is not a file; name a notebook or a Python file")


def _parse_script(path: Path, data: bytes, unit: str | None) -> Submission:
    unit = unit or unit_in(path.stem)
    if unit is None:
        raise UnreadableError("its name is no unit; name it after the one it answers, such as 04_training_loop.py")
    try:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            source = data.decode("utf-16")
        else:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            source = data.decode(encoding)
    except (SyntaxError, ValueError, LookupError):  # encodings that do not exist, do not fit or make no text
        source = "\0"
    if "\0" in source:
        raise UnreadableError("is not text, so not a Python file; save it as UTF-8 text")
    if len(source) > ALL_TEXT["code"]:
        raise UnreadableError("is larger than code that anybody writes; hand in the functions and nothing else")
    return Submission(path, unit, (Cell(clean(path.name), clean(source)),))


def _parse_notebook(path: Path, data: bytes, unit: str | None, template: dict | None) -> Submission:
    try:
        content = json_of(data)
    except UnreadableError:
        if path.suffix.lower() == ".ipynb":
            raise
        raise UnreadableError("is neither a notebook (.ipynb) nor a Python file (.py)") from None
    written = written_cells(content)
    unit = unit or _unit_of(path, unit_named_in(content), written)
    template = template or released_content(unit)
    if template is None:
        return Submission(path, unit, _code_as_it_is(written))
    recovered = recover(template, written, exercises_in(template))
    code = [cell for cell in recovered.content["cells"] if cell["cell_type"] == "code" and not _is_graded_check(cell)]
    cells = [Cell(recovered.names[cell["id"]], cell["source"], cell["id"]) for cell in code if cell["source"].strip()]
    return Submission(path, unit, tuple(cells), recovered.content)


def _code_as_it_is(written: Sequence[WrittenCell]) -> tuple[Cell, ...]:
    code = [cell for cell in written if cell.kind == "code"]
    if not code:
        raise UnreadableError("is a notebook without code cells; hand in the one you worked in")
    return tuple(Cell(cell.place, cell.source) for cell in code if cell.source.strip())


def _unit_of(path: Path, released_as: object, written: Sequence[WrittenCell]) -> str:
    """What the release wrote into the notebook; else whose exercises its cells are; else its name; else what it defines."""
    if isinstance(released_as, str) and released_as in UNITS:
        return released_as
    if len(units := _units_of(cell.grade_id.removesuffix("-solution") for cell in written)) == 1:
        return next(iter(units))
    if unit := unit_in(path.stem):
        return unit
    defined = {
        definition.name
        for cell in written
        if len(cell.source) <= LONGEST
        for definition in definitions(cell.source, unit_of_exercise())
    }
    (first, most), (_, next_most), *_ = [*_units_of(defined).most_common(2), ("", 0), ("", 0)]
    if most > next_most:  # a name or two may be another unit's: a function of the bench is called like an exercise
        return first
    problem = "no unit of this course can be recognised in it; hand in a notebook of the course, or name it after its unit"
    raise UnreadableError(f"{problem}, such as 04_training_loop.ipynb")


def _units_of(names: Iterable[str]) -> Counter[str]:
    return Counter(unit_of_exercise()[name] for name in names if name in unit_of_exercise())


def _is_graded_check(cell: dict) -> bool:
    """Whether this is a cell that marks, not one that students write in: marking observes their functions by itself."""
    roles = cell["metadata"].get("nbgrader", {})
    return roles.get("grade") is True and roles.get("solution") is not True
