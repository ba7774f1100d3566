"""Read what a student hands in: a file becomes a unit and code to run. Nothing is executed here.

A notebook goes one way, through a module for each step::

    bytes → written cells           file_formats: of a notebook by notebook_json, or what salvage can read of a damaged one;
                                    of Python (marimo_file) and Markdown
    → parsed cells                  parsed_cell, with the meaning of each text from python_source
    → repaired cells                cell_repair
    → matched cells                 cell_matching, with the released notebook from template
    → notebook and code to run      rebuilding, with safe_markdown
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.contract.cell import Cell
from autograder.contract.units import UNITS, unit_in
from autograder.reading.cell_matching import matched_cells
from autograder.reading.cell_repair import repaired_cells
from autograder.reading.file_formats import is_json_like, python_text, refuse_empty, written_file
from autograder.reading.notebook_json import UnreadableError, WrittenCell
from autograder.reading.parsed_cell import ParsedCell
from autograder.reading.rebuilding import rebuilt_notebook
from autograder.reading.template import Template
from autograder.released import exercises_in, released_content, unit_of_exercise
from autograder.support.one_line import one_line
from autograder.support.regular_files import NotRegularError, open_regular

if TYPE_CHECKING:
    from nbformat import NotebookNode

MAX_FILE_BYTES = 256 * 2**20
"""Bytes a file may have. Notebooks of this course have some 10⁵; a file this much larger is full of runaway outputs."""


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
        cells: code to run, in order, without the checks.
        content: the notebook of these cells (see :func:`autograder.reading.rebuilding.rebuilt_notebook`) as plain data; None
            for a Python file and for a unit that has not been released.
        damage: what is wrong with the file and what could be read of it, as a sentence without its subject; may be empty.
        absent: exercises for which the notebook has no cell.
    """

    path: Path
    unit: str
    cells: tuple[Cell, ...]
    content: dict | None = field(default=None, repr=False)
    damage: str = ""
    absent: frozenset[str] = frozenset()

    @cached_property
    def notebook(self) -> NotebookNode | None:
        """``content`` for notebook libraries."""
        if self.content is None:
            return None
        from nbformat import from_dict

        return from_dict(self.content)


def read_submission(path: str | Path, unit: str | None = None, follow: bool = True) -> Submission:
    """Read a notebook or a Python file.

    Args:
        path: of the file.
        unit: the unit it has to answer, whatever the file is called.
        follow: whether the path may be a link: yes for people's own files, no for what others have handed in.

    Raises:
        SubmissionError: the file does not exist, is neither of the two, is not of this course, or is of another unit.
    """
    path = Path(path)
    data = _read_bytes(path, follow)
    if unit is None:
        return parse_submission(path, data)
    try:
        submission = parse_submission(path, data)
    except SubmissionError:  # it does not say which unit it answers, or cannot be read
        return parse_submission(path, data, unit)
    if submission.unit != unit:
        raise SubmissionError(path, f"answers unit {submission.unit}, not {unit}; hand in the one of {unit}")
    return submission


def parse_submission(path: Path, data: bytes, unit: str | None = None, template: dict | None = None) -> Submission:
    """The submission in these bytes of a file, which need not exist.

    Args:
        path: its name; the ending says whether it is Python, and the name may contain the unit.
        data: its bytes.
        unit: the unit it answers, if that is known.
        template: the notebook that was released, if it is not the course's own.

    Raises:
        SubmissionError: the file is neither a notebook nor Python, or is not of this course.
    """
    try:
        if len(data) > MAX_FILE_BYTES:
            problem = f"is larger than the {MAX_FILE_BYTES / 2**20:.0f} MB that are read"
            raise UnreadableError(f"{problem}; clear the outputs of the notebook and save it again")
        refuse_empty(data)
        if path.suffix.lower() == ".py" and not is_json_like(data):
            return _parse_script(path, data, unit)
        return _parse_notebook(path, data, unit, template)
    except UnreadableError as error:
        raise SubmissionError(path, str(error)) from None


def _read_bytes(path: Path, follow: bool) -> bytes:
    try:
        place = path.resolve() if follow else path
        if place.is_dir() and not place.is_symlink():
            raise SubmissionError(path, "is a directory; name the notebooks or Python files in it")
        with open_regular(place.parent, [place.name]) as file:
            return file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise SubmissionError(path, "there is no such file; check its name and folder") from None
    except NotRegularError as error:
        raise SubmissionError(path, str(error.strerror)) from None
    except (OSError, RuntimeError, ValueError) as error:
        raise SubmissionError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _parse_script(path: Path, data: bytes, unit: str | None) -> Submission:
    source = python_text(data)
    unit = unit or unit_in(path.stem)
    if unit is None:
        raise UnreadableError("its name is no unit; name it after the one it answers, such as 04_training_loop.py")
    return Submission(path, unit, (Cell(one_line(path.name), source),))


def _parse_notebook(path: Path, data: bytes, unit: str | None, release: dict | None) -> Submission:
    file = written_file(path.name, data)
    unit = unit or _stated_unit(path, file.released_as, file.cells)
    names = _names_to_look_for(unit, release)
    cells = [ParsedCell.of(cell, names) for cell in file.cells]
    unit = unit or _unit_of_definitions(cells)
    release = release or released_content(unit)
    if release is None:
        _refuse_without_code(cells)
        code = [cell.written for cell in cells if cell.kind == "code" and cell.text.strip()]
        return Submission(path, unit, tuple(Cell(cell.place, cell.source) for cell in code), damage=file.damage)
    template = Template.of(release)
    cells = repaired_cells(cells, template)
    _refuse_without_code(cells)
    rebuilt = rebuilt_notebook(template, matched_cells(cells, template), file.damage)
    return Submission(path, unit, rebuilt.code(), rebuilt.content, file.damage, rebuilt.absent)


def _refuse_without_code(cells: Iterable[ParsedCell]) -> None:
    if not any(cell.kind == "code" for cell in cells):
        raise UnreadableError("is a notebook without code cells; hand in the one you worked in")


def _stated_unit(path: Path, released_as: object, written: Sequence[WrittenCell]) -> str | None:
    """The unit that the release wrote into the notebook; else the unit of its cells' exercises; else that in its name."""
    if isinstance(released_as, str) and released_as in UNITS:
        return released_as
    if len(units := _units_of(cell.grade_id.removesuffix("-solution") for cell in written)) == 1:
        return next(iter(units))
    return unit_in(path.stem)


def _names_to_look_for(unit: str | None, release: dict | None) -> frozenset[str]:
    """The functions that the cells of a notebook may answer: those of its unit, or of all units if it is not known."""
    release = release or (released_content(unit) if unit else None)
    exercises = exercises_in(release) if release else ()
    return frozenset(exercises if unit else (*exercises, *unit_of_exercise()))


def _unit_of_definitions(cells: Sequence[ParsedCell]) -> str:
    """The unit to which most of the exercises belong that a notebook defines."""
    exercises = unit_of_exercise()
    units = _units_of({definition.name for cell in cells for definition in cell.python.definitions(exercises)})
    (first, most), (_, next_most), *_ = [*units.most_common(2), ("", 0), ("", 0)]
    if most > next_most:  # one or two names may be another unit's: a function of the bench has the name of an exercise
        return first
    problem = "no unit of this course can be recognised in it; hand in a notebook of the course, or name it after its unit"
    raise UnreadableError(f"{problem}, such as 04_training_loop.ipynb")


def _units_of(names: Iterable[str]) -> Counter[str]:
    """How many of these names are exercises of each unit."""
    return Counter(unit_of_exercise()[name] for name in names if name in unit_of_exercise())
