"""The notebooks as students get them. The marker takes from here whatever a student did not write.

``make release`` writes them here and to ``course/``. The copies in ``course/`` are for people to work in, so a marker that
relied on those could mistake someone's answers for what was released.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from autograder.contract.units import UNITS

if TYPE_CHECKING:
    from nbformat import NotebookNode


def released_notebook(unit: str) -> NotebookNode | None:
    """The released notebook of a unit, or None if the unit does not exist or has not been released."""
    import nbformat

    content = released_content(unit)
    return None if content is None else nbformat.from_dict(content)


@cache
def released_content(unit: str) -> dict[str, Any] | None:
    """The same as plain data, which needs no notebook library. It is shared: do not change it."""
    file = files("autograder.released").joinpath(f"{unit}.ipynb")
    return json.loads(file.read_text(encoding="utf-8")) if unit in UNITS and file.is_file() else None


def exercises_in(template: Mapping[str, Any]) -> tuple[str, ...]:
    """The functions that students write in a released notebook, in order."""
    return tuple(
        roles["grade_id"].removesuffix("-solution")
        for cell in template["cells"]
        if (roles := cell["metadata"].get("nbgrader", {})).get("solution") and roles["grade_id"].endswith("-solution")
    )


@cache
def unit_of_exercise() -> dict[str, str]:
    """The unit of each function that students write in a released notebook, by name of the function."""
    contents = {unit: content for unit in UNITS if (content := released_content(unit))}
    return {name: unit for unit, content in contents.items() for name in exercises_in(content)}
