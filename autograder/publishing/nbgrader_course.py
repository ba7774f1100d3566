"""An nbgrader course directory: its configuration and the source notebook of each unit."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.contract.units import UNITS, is_called
from autograder.support.atomic_files import write_atomically
from autograder.support.names import names_in

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

_INSTALLED, _IN_A_CLONE = (folder / "solutions" for folder in (Path(__file__).parent, Path(__file__).resolve().parents[2]))
SOLUTIONS = _INSTALLED if _INSTALLED.is_dir() else _IN_A_CLONE
"""The units' only source. A wheel has it in this folder, which no sandbox shows."""

CONFIG = "nbgrader_config.py"

SECRET_BYTES = 32
"""Random bytes from which the hidden problems of a class are made: more than anybody can try."""


def pick_units(scripts: Mapping[str, Path], wanted: Iterable[str] | None) -> dict[str, Path]:
    """The units named in lists such as ``"03,04_training_loop"``, in the order of the course; all if none is named.

    Raises:
        ValueError: there is no such unit.
    """
    names = names_in(wanted)
    for name in names:
        if not any(is_called(unit, name) for unit in scripts):
            raise ValueError(f"no unit is called {name!r}; there are {', '.join(scripts)}")
    return {u: path for u, path in scripts.items() if not names or any(is_called(u, name) for name in names)}


def units_of_class(directory: Path) -> list[str]:
    """The units of the course that are in a class, in their order; none if there is no such class."""
    return [unit for unit in UNITS if _source(directory, unit).exists()]


def pick_units_of_class(directory: Path, wanted: Iterable[str] | None) -> list[str]:
    """The units named, which have to be in the class; all of the course if none is named.

    Raises:
        ValueError: there is no such unit, or it is not in the class.
    """
    there, picked = units_of_class(directory), list(pick_units(dict.fromkeys(UNITS, directory), wanted))
    strange = [unit for unit in picked if unit not in there]
    if strange and there and names_in(wanted):
        numbers = ",".join(unit[:2] for unit in strange)
        raise ValueError(
            f"{', '.join(strange)} {'is' if len(strange) == 1 else 'are'} not in {directory}, which has {', '.join(there)};"
            f" to add to it, use gradaccum classroom init {directory} --units {numbers}"
        )
    return picked


def make_course(directory: Path, scripts: Mapping[str, Path], db_url: str = "") -> list[str]:
    """Write the configuration and ``source/<unit>/<unit>.ipynb``; what is there already is left as it is.

    Args:
        directory: of the class.
        scripts: the units wanted, and what they are made from.
        db_url: of the gradebook; by default an SQLite file in the directory.

    Returns:
        The units that were added.

    Raises:
        ScriptError: a solution script cannot be released; nothing has been written.
        ValueError: the directory holds something else.
        OSError: it cannot be written.
    """
    if directory.exists() and not directory.is_dir():
        raise ValueError(f"{directory} is a file, not a directory")
    if directory.is_dir() and any(directory.iterdir()) and not (directory / CONFIG).is_file():
        raise ValueError(f"{directory} is not empty and no class (it has no {CONFIG}); name a new directory")
    places = {unit: _source(directory, unit) for unit in scripts}
    added = {unit: notebook_text(scripts[unit]) for unit, place in places.items() if not place.exists()}
    if not (directory / CONFIG).exists():
        write_atomically(directory / CONFIG, config_text(secrets.token_hex(SECRET_BYTES), db_url))
    for unit, text in added.items():
        write_atomically(places[unit], text)
    return list(added)


def config_text(secret: str, db_url: str = "") -> str:
    """The configuration of a class whose hidden problems are chosen by ``secret``, with its gradebook at ``db_url``."""
    text = files("autograder.hosts").joinpath(CONFIG).read_text(encoding="utf-8")
    text = text.replace('c.MarkSubmission.secret = ""', f'c.MarkSubmission.secret = "{secret}"')
    return text.replace("# c.CourseDirectory.db_url = ", f"c.CourseDirectory.db_url = {db_url!r}  # ") if db_url else text


def course_directory(directory: Path) -> CourseDirectory:
    """The class as nbgrader sees it, by the configuration that is in it."""
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader(CONFIG, path=str(directory.resolve())).load_config()
    config.CourseDirectory.root = str(directory.resolve())
    return CourseDirectory(config=config)


def notebook_text(script: Path) -> str:
    """The source notebook of a unit as file content."""
    import nbformat

    from autograder.publishing.solution_script import source_notebook  # which needs torch

    return nbformat.writes(source_notebook(script)) + "\n"


def _source(directory: Path, unit: str) -> Path:
    return directory / "source" / unit / f"{unit}.ipynb"
