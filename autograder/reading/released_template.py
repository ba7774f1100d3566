"""Which released notebook a class's notebook came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.contract.units import UNITS
from autograder.released import released_content

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory


def template_of(coursedir: CourseDirectory, resources: dict[str, Any]) -> dict[str, Any] | None:
    """The notebook that was released in the class, or else in the course; None if it is not a unit of the course."""
    assignment, notebook = resources["nbgrader"]["assignment"], resources["nbgrader"]["notebook"]
    folder = coursedir.format_path(coursedir.release_directory, ".", assignment)
    try:
        template = json.loads(Path(folder, f"{notebook}.ipynb").read_bytes())
    except (OSError, ValueError):
        template = released_content(notebook)
    return template if template is not None and unit_of(template) else None


def unit_of(notebook: dict[str, Any]) -> str | None:
    """The unit of the course that a notebook was released as; None if it was not."""
    unit = notebook["metadata"].get("gradaccum", {}).get("unit")
    return unit if unit in UNITS else None
