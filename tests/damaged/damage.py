"""What happens to notebooks between a student's desk and the marker, each as a function of a solved notebook.

A damage takes a solved notebook (plain JSON, its own copy) and returns what is handed in: a notebook, or the bytes of a file.
Exercises named by ``loses`` are not there any more afterwards; every other one is.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import nbformat

from autograder.publishing.nbgrader_course import SOLUTIONS
from autograder.publishing.solution_script import source_notebook
from autograder.released import exercises_in, released_content


@dataclass(frozen=True)
class Damage:
    """Something that happens to a notebook.

    Attributes:
        name: of the function that does it.
        apply: does it.
        loses: how many exercises, the first of the unit, are really gone afterwards.
        file: what the notebook is called afterwards; ``{unit}`` stands for its unit.
    """

    name: str
    apply: Callable[[dict], dict | bytes]
    loses: int
    file: str

    def bytes_of(self, unit: str) -> bytes:
        """The file that is handed in for a solved notebook of a unit."""
        damaged = self.apply(solved(unit))
        return damaged if isinstance(damaged, bytes) else json.dumps(damaged).encode()

    def still_there(self, unit: str) -> tuple[str, ...]:
        return exercises_in(released_content(unit))[self.loses :]


DAMAGES: list[Damage] = []


def damage(loses: int = 0, file: str = "{unit}.ipynb"):
    def add(apply):
        DAMAGES.append(Damage(apply.__name__, apply, loses, file))
        return apply

    return add


def solved(unit: str) -> dict:
    """A released notebook with the reference solutions written into it, as plain JSON with texts in one piece."""
    return copy.deepcopy(_solved(unit))


@cache
def _solved(unit: str) -> dict:
    answers = {cell.id: cell.source for cell in source_notebook(SOLUTIONS / f"{unit}.py").cells}
    notebook = nbformat.from_dict(released_content(unit))
    for cell in notebook.cells:
        cell.source = "".join(cell.source)
        if cell.metadata.get("nbgrader", {}).get("solution"):
            lines = answers[cell.id].split("\n")
            cell.source = "\n".join(line for line in lines if "### BEGIN SOL" not in line and "### END SOL" not in line)
    return json.loads(json.dumps(notebook))


def role(cell: dict) -> dict:
    return cell["metadata"].get("nbgrader", {})


def is_solution(cell: dict) -> bool:
    return bool(role(cell).get("solution"))


def is_check(cell: dict) -> bool:
    return bool(role(cell).get("grade"))


def is_given(cell: dict) -> bool:
    return bool(role(cell).get("locked")) and not is_check(cell)


def is_code(cell: dict) -> bool:
    return cell["cell_type"] == "code"


def solutions(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if is_solution(cell)]


def keep(notebook: dict, wanted: Callable[[dict], bool]) -> dict:
    return notebook | {"cells": [cell for cell in notebook["cells"] if wanted(cell)]}


def each(notebook: dict, change: Callable[[dict], list[dict]]) -> dict:
    """A notebook in which every cell is replaced by some cells."""
    return notebook | {"cells": [new for cell in notebook["cells"] for new in change(cell)]}


def code(source: str, **metadata) -> dict:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": 1}


def stub(cell: dict, unit: str) -> dict:
    released = next(c for c in released_content(unit)["cells"] if c["id"] == cell["id"])
    return copy.deepcopy(released)


def unit_of(notebook: dict) -> str:
    return notebook["metadata"]["gradaccum"]["unit"]
