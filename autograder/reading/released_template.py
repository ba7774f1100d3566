"""Which released notebook a class's notebook came from."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.contract.units import UNITS
from autograder.released import released_content


def template_of(coursedir, resources: dict) -> dict | None:
    """The notebook that was released in the class, or that of the course; None if it is no unit of the course."""
    assignment, notebook = resources["nbgrader"]["assignment"], resources["nbgrader"]["notebook"]
    folder = coursedir.format_path(coursedir.release_directory, ".", assignment)
    try:
        template = json.loads(Path(folder, f"{notebook}.ipynb").read_bytes())
    except (OSError, ValueError):
        template = released_content(notebook)
    return template if template is not None and unit_of(template) else None


def unit_of(notebook: dict) -> str | None:
    """The unit of the course that a notebook was released as."""
    unit = notebook["metadata"].get("gradaccum", {}).get("unit")
    return unit if unit in UNITS else None
