"""What happens to notebooks between a student's desk and the marker, each as a function of a solved notebook.

A damage takes a solved notebook (plain JSON, a copy of its own) and returns what is handed in: a notebook or the bytes of a
file. ``loses`` says how many exercises it really removes; all others are still there.
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
        name: that of the function.
        apply: the function.
        loses: how many exercises it removes, counted from the beginning of the unit, or from its end if negative.
        file: name of the file that is handed in; ``{unit}`` stands for its unit.
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
        """The exercises whose answers the damage does not remove."""
        exercises = exercises_in(released_content(unit))
        return exercises[self.loses :] if self.loses >= 0 else exercises[: self.loses]


DAMAGES: list[Damage] = []


def damage(loses: int = 0, file: str = "{unit}.ipynb"):
    """Add a function to :data:`DAMAGES`."""

    def add(apply):
        DAMAGES.append(Damage(apply.__name__, apply, loses, file))
        return apply

    return add


def solved(unit: str) -> dict:
    """A released notebook with the reference solutions written into it, as plain JSON each text in one piece."""
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
    """A notebook in which every cell is replaced by the cells that ``change`` returns for it."""
    return notebook | {"cells": [new for cell in notebook["cells"] for new in change(cell)]}


def code(source: str, **metadata) -> dict:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": 1}


def stub(cell: dict, unit: str) -> dict:
    """The cell as it was released."""
    released = next(c for c in released_content(unit)["cells"] if c["id"] == cell["id"])
    return copy.deepcopy(released)


def unit_of(notebook: dict) -> str:
    return notebook["metadata"]["gradaccum"]["unit"]
