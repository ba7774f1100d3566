"""The marker has its own copies of the released notebooks, whatever people do to those in course/."""

from __future__ import annotations

import tomllib
from pathlib import Path

import nbformat

from autograder.contract.units import UNITS
from autograder.exercises import all_exercises
from autograder.released import released_notebook, unit_of_exercise

ROOT = Path(__file__).parents[3]


def test_every_released_notebook_is_there_and_valid():
    there = [unit for unit in UNITS if released_notebook(unit)]
    assert len(there) >= 8
    for unit in there:
        nbformat.validate(released_notebook(unit))
        assert released_notebook(unit).metadata.gradaccum.unit == unit


def test_there_is_no_released_notebook_for_an_unknown_unit():
    assert (released_notebook("99_nothing"), released_notebook("../../course/04_training_loop")) == (None, None)


def test_the_functions_of_a_release_are_the_units_exercises():
    units = {unit for unit in UNITS if released_notebook(unit)}
    assert unit_of_exercise() == {name: exercise.unit for name, exercise in all_exercises().items() if exercise.unit in units}


def test_an_installed_copy_has_the_released_notebooks():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["autograder"]
    there = {path.relative_to(ROOT / "autograder") for path in (ROOT / "autograder" / "released").glob("*.ipynb")}
    assert there
    assert [path for path in there if not any(path.match(pattern) for pattern in patterns)] == []
