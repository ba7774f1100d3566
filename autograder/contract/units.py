"""The units of the course, in order. Only their names, so that reading a submission does not need torch."""

from __future__ import annotations

from pathlib import Path

_FOLDERS = (Path(__file__).parents[1] / "exercises").glob("unit_*/")

UNITS = tuple(sorted(folder.name.removeprefix("unit_") for folder in _FOLDERS if (folder / "__init__.py").is_file()))
"""Ids of all units, such as ``"04_training_loop"``: one for each folder in ``autograder/exercises``."""


def is_called(unit: str, name: str) -> bool:
    """Whether a name such as ``"04_training_loop"``, ``"04"`` or ``"4"``, as a spreadsheet has it, is this unit's."""
    return name in (unit, unit[:2], unit[:2].lstrip("0") or "0")


def unit_in(text: str) -> str | None:
    """The unit whose id occurs in a text such as ``"04_training_loop (1)"`` or ``"Copy of 04_training_loop"``, or None."""
    return next((unit for unit in UNITS if unit in text.lower()), None)
