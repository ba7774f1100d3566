"""A folder with the notebooks of the course to work in: ``gradaccum course`` and ``gradaccum lab``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

from autograder.released import released_content
from autograder.support.atomic_files import write_atomically
from gradaccum import __version__

COURSE = Path("course")
"""The folder if none is named."""


def lay_out(directory: Path, units: Iterable[str]) -> tuple[list[Path], list[str]]:
    """Write the notebooks that a folder lacks; a notebook that is there stays as it is, and a newer release goes beside it.

    Returns:
        The notebooks written, and a sentence on each that was there with a difference from what has been released.

    Raises:
        OSError: one cannot be read or written.
    """
    written, remarks = [], []
    for unit in units:
        text = files("autograder.released").joinpath(f"{unit}.ipynb").read_text(encoding="utf-8")
        content = released_content(unit)
        assert content is not None
        notebook, beside = directory / f"{unit}.ipynb", directory / f"{unit}-{__version__}.ipynb"
        if not os.path.lexists(notebook):
            write_atomically(notebook, text)
            written.append(notebook)
        elif (found := _sources(notebook.read_bytes())) == _sources(text):
            continue
        elif _is_of_release(found, content):
            remarks.append(f"{notebook} stays as you left it")
        elif os.path.lexists(beside):
            remarks.append(f"{notebook} stays as you left it, and so does {beside}")
        else:
            write_atomically(beside, text)
            written.append(beside)
            remarks.append(f"{notebook} stays as it is, but is not from this release; the notebook of this release is {beside}")
    return written, remarks


def open_lab(directory: Path, options: Sequence[str]) -> NoReturn:
    """Become JupyterLab in a folder; in its terminals and kernels, the commands of this Python come first."""
    programs = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command = [sys.executable, "-m", "jupyterlab", *root, str(directory), *options]
    os.execve(sys.executable, command, os.environ | {"PATH": programs})


def _is_locked(cell: Mapping[str, Any]) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("locked"))


def _sources(notebook: str | bytes) -> dict[str, str]:
    """The text of each cell by its id; empty if this is no notebook."""
    try:
        return {cell.get("id"): "".join(cell["source"]) for cell in json.loads(notebook)["cells"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _is_of_release(sources: Mapping[str, str], released: Mapping[str, Any]) -> bool:
    """Whether every cell that students do not write in is there as it was released."""
    fixed = [cell for cell in released["cells"] if cell["cell_type"] == "markdown" or _is_locked(cell)]
    return all(sources.get(cell["id"]) == "".join(cell["source"]) for cell in fixed)
