'''Read a unit's script in ``solutions/`` as the notebook an instructor gives to nbgrader.

How to write ``solutions/NN_name.py``
-------------------------------------
A unit is a jupytext percent script. It begins with this header and runs as it stands, ``python solutions/NN_name.py``::

    # ---
    # jupyter:
    #   jupytext:
    #     text_representation:
    #       extension: .py
    #       format_name: percent
    #   kernelspec:
    #     display_name: Python 3 (ipykernel)
    #     language: python
    #     name: python3
    # ---

After it come cells, of five kinds::

    # %% [markdown]
    # ## Prose, one idea per cell

    # %%
    # Code that students read and run but cannot change: imports, explorables, demonstrations.
    from autograder.check import check

    # %% free=true
    # Code that students are invited to change and to delete; marking never relies on it.
    accumulation_steps = 4

    # %% exercise="train_epoch"
    def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        """What the function has to do; signature and docstring are what students are given."""
        ### BEGIN SOLUTION
        ...
        ### END SOLUTION

    # %% check="train_epoch"
    check(train_epoch)

* ``exercise="id"`` and ``check="id"`` name an exercise of the unit's folder. Every exercise of the unit
  has one cell of each, the check somewhere after the exercise, and a check cell holds ``check(id)`` and nothing else. Points
  are never written down here: they are the exercise's own.
* The code between ``### BEGIN SOLUTION`` and ``### END SOLUTION`` becomes ``raise NotImplementedError`` in the released
  notebook, with the indentation of the first marker; the code outside is given to students as it is. So put the body into
  one solution region, and see to it that the rest is valid Python.
* A student's function may use what locked cells define, never what a free cell defines.
* A cell that calls ``predict(`` is released with its code folded, because it contains the answer.
* In addition to these three words a cell may have jupytext's ``tags=[...]``. Anything else is taken for a typing mistake.
* Wrong code that students are asked to repair has a locked cell of its own, next to its fingerprint; the exercise cell after
  it has an ordinary stub.

Everything nbgrader needs (ids, points, locks) is added here, and so is what depends on where the course is published: badges
below the first cell's text, a cell that installs the course on Colab and Kaggle, and the addresses of links into ``docs/``, see
:mod:`autograder.publishing.origin`. Ids come from exercise ids and headings, and nothing is random or dated, so the same script
gives the same bytes everywhere.
'''

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.exercises import all_exercises, exercises_of
from autograder.publishing.origin import Origin, published_origin

if TYPE_CHECKING:
    from nbformat import NotebookNode

STUB = "raise NotImplementedError"
"""What replaces a solution region."""

_BEGIN, _END = "### BEGIN SOLUTION", "### END SOLUTION"
_MARKER = re.compile("BEGIN SOLUTION|END SOLUTION")  # what nbgrader looks for, anywhere in a line
_INSTALL_ID = "install"
_WORDS = {"exercise", "check", "free", "tags"}
_KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


class ScriptError(ValueError):
    """A solution script that cannot be released; the message says where and why, in one line."""


def unit_scripts(solutions: Path) -> dict[str, Path]:
    """The units of a directory of solution scripts, in order.

    Raises:
        ScriptError: there are none.
    """
    scripts = {path.stem: path for path in sorted(solutions.glob("[0-9][0-9]_*.py"))}
    if not scripts:
        raise ScriptError(f"{solutions}: no solution scripts (NN_name.py) here")
    return scripts


def source_notebook(script: Path, origin: Origin | None = None) -> NotebookNode:
    """The notebook with solutions, ready for nbgrader.

    Args:
        script: ``NN_name.py``; its stem is the unit.
        origin: where the course is published; by default what ``origin.toml`` says.

    Raises:
        ScriptError: the script does not follow the notation above.
        ValueError: ``origin.toml`` is not as it should be.
        OSError: the file cannot be read.
    """
    import jupytext

    unit = script.stem
    with _located(str(script)):
        notebook = jupytext.reads(script.read_text(encoding="utf-8"), fmt="py:percent")
        words = []
        for position, cell in enumerate(notebook.cells, 1):
            with _located(_name_of(position, cell)):
                words.append(_words_of(cell))
        _refuse_gaps(unit, words)
        ids = _Ids(unit)
        for position, cell in enumerate(notebook.cells, 1):
            with _located(_name_of(position, cell)):
                _finish(cell, words[position - 1], ids)
    _add_addresses(notebook, unit, origin or published_origin())
    notebook.metadata = _node({"gradaccum": {"unit": unit}, "kernelspec": _KERNELSPEC, "language_info": {"name": "python"}})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def stub_of(source: str) -> str:
    """An exercise cell as students get it: every solution region is one ``raise NotImplementedError``.

    Raises:
        ScriptError: markers are missing, misspelt, nested or unbalanced.
    """
    lines, inside, regions = [], False, 0
    for line in source.split("\n"):
        if _MARKER.search(line):
            marker = line.strip()
            if marker not in (_BEGIN, _END):
                raise ScriptError(f"write {marker!r} as '{_BEGIN}' or '{_END}', on a line of its own")
            if inside == (marker == _BEGIN):
                raise ScriptError(f"'{marker}' without its partner")
            inside, regions = not inside, regions + (marker == _BEGIN)
            if inside:
                lines.append(line[: len(line) - len(line.lstrip())] + STUB)
        elif not inside:
            lines.append(line)
    if inside:
        raise ScriptError(f"'{_BEGIN}' without its partner")
    if not regions:
        raise ScriptError(f"an exercise cell needs '{_BEGIN}' and '{_END}'")
    return "\n".join(lines)


@contextlib.contextmanager
def _located(place: str) -> Iterator[None]:
    """Put the place of an error in front of its message."""
    try:
        yield
    except ScriptError as error:
        raise ScriptError(f"{place}: {error}") from None


def _name_of(position: int, cell: NotebookNode) -> str:
    first_line = cell.source.strip().split("\n")[0]
    return f"cell {position} ({first_line!r})"


def _words_of(cell: NotebookNode) -> dict:
    """The words after the ``# %%`` of a cell."""
    words = {name: value for name, value in cell.metadata.items() if not name.startswith("lines_to_")}  # jupytext's own
    if unknown := sorted(set(words) - _WORDS):
        raise ScriptError(f"unknown word {unknown[0]!r}; a cell may have {', '.join(sorted(_WORDS))}")
    if len(kinds := sorted(set(words) - {"tags"})) > 1:
        raise ScriptError(f"{' and '.join(kinds)} cannot stand together")
    if kinds and cell.cell_type != "code":
        raise ScriptError(f"{kinds[0]} stands on a cell that is not code")
    return words


def _refuse_gaps(unit: str, words: list[dict]) -> None:
    """Refuse a script unless it has every exercise of the unit once, each followed by its check, and no others."""
    due = [exercise.id for exercise in exercises_of(unit)]
    seen = [(word, cell[word]) for cell in words for word in ("exercise", "check") if word in cell]
    for word, name in seen:
        if name not in all_exercises():
            raise ScriptError(f"{word}={name!r}: there is no such exercise")
        if name not in due:
            raise ScriptError(f"{word}={name!r}: belongs to unit {all_exercises()[name].unit}")
        if seen.count((word, name)) > 1:
            raise ScriptError(f"{word}={name!r}: stands in several cells")
    for name in due:
        for word in ("exercise", "check"):
            if (word, name) not in seen:
                raise ScriptError(f"no cell has {word}={name!r}, but the unit has this exercise")
        if seen.index(("check", name)) < seen.index(("exercise", name)):
            raise ScriptError(f"check={name!r}: stands before its exercise")


class _Ids:
    """Ids of cells: an exercise has its own; other cells get the words of the latest heading, and a number."""

    def __init__(self, unit: str):
        self.heading = "start"
        self.used = {_INSTALL_ID} | {name for e in exercises_of(unit) for name in (e.id, _solution_id(e.id))}

    def next(self, cell: NotebookNode) -> str:
        if cell.cell_type == "markdown" and (heading := re.search(r"^#+\s+(.+)$", cell.source, re.MULTILINE)):
            self.heading = re.sub(r"[^a-z0-9]+", "-", heading[1].lower()).strip("-")[:40] or "start"
        names = (self.heading if k == 1 else f"{self.heading}-{k}" for k in count(1))
        self.used.add(name := next(name for name in names if name not in self.used))
        return name


def _solution_id(exercise_id: str) -> str:
    return f"{exercise_id}-solution"


def _finish(cell: NotebookNode, words: dict, ids: _Ids) -> None:
    """Replace our notation by nbgrader's metadata and give the cell its id."""
    cell.metadata = _node({"tags": words["tags"]} if "tags" in words else {})
    if "exercise" in words:
        _refuse_invalid(stub_of(cell.source))
        cell.id = _solution_id(words["exercise"])
        cell.metadata.nbgrader = _nbgrader(cell.id, solution=True)
        return
    if _MARKER.search(cell.source):
        raise ScriptError("solution markers stand in a cell without exercise=...")
    if "check" in words:
        exercise = all_exercises()[words["check"]]
        if cell.source != (due := f"check({exercise.id})"):
            raise ScriptError(f"a check cell holds {due} and nothing else")
        cell.id = exercise.id
        points = exercise.max_score if exercise.graded else None
        cell.metadata.nbgrader = _nbgrader(cell.id, locked=True, grade=exercise.graded, points=points)
        return
    cell.id = ids.next(cell)
    if cell.cell_type == "code":
        _refuse_invalid(cell.source)
        if re.search(r"^predict\(", cell.source, re.MULTILINE):
            cell.metadata.jupyter = _node({"source_hidden": True})
        if not words.get("free"):
            cell.metadata.nbgrader = _nbgrader(cell.id, locked=True)


def _add_addresses(notebook: NotebookNode, unit: str, origin: Origin) -> None:
    """Add what depends on where the course is published; no cell that is there gets another id."""
    prose = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    for cell in prose:
        cell.source = origin.with_addresses(cell.source)
    if badges := origin.badges(unit):
        prose[0].source += f"\n\n{badges}"
    if code := origin.install_cell():
        from nbformat.v4 import new_code_cell

        tags = {"tags": ["remove-cell"], "nbgrader": _nbgrader(_INSTALL_ID, locked=True)}  # the site does not show it
        notebook.cells.insert(1, new_code_cell(code, id=_INSTALL_ID, metadata=tags))


def _nbgrader(
    grade_id: str, *, grade: bool = False, locked: bool = False, solution: bool = False, points: float | None = None
) -> NotebookNode:
    roles = {"grade": grade, "locked": locked, "solution": solution, "task": False}
    worth = {} if points is None else {"points": points}
    return _node({"grade_id": grade_id, "schema_version": 3} | roles | worth)


def _refuse_invalid(source: str) -> None:
    try:
        ast.parse(source)
    except SyntaxError as error:
        raise ScriptError(f"what students get is not valid Python: {error.msg} in line {error.lineno}") from None


def _node(content: dict) -> NotebookNode:
    from nbformat import from_dict

    return from_dict(content)
