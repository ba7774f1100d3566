"""An nbgrader course directory with the units of the course."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"
"""The units' only source, in the clone this package is installed from."""

CONFIG = "nbgrader_config.py"


def pick_units(scripts: Mapping[str, Path], wanted: str) -> dict[str, Path]:
    """The units named in a list such as ``"03,04_training_loop"``, in the order of the course; all for an empty list.

    Raises:
        ValueError: there is no such unit.
    """
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    for name in names:
        if not any(_is_called(unit, name) for unit in scripts):
            raise ValueError(f"no unit is called {name!r}; there are {', '.join(scripts)}")
    return {u: path for u, path in scripts.items() if not names or any(_is_called(u, name) for name in names)}


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
    places = {unit: directory / "source" / unit / f"{unit}.ipynb" for unit in scripts}
    added = {unit: notebook_text(scripts[unit]) for unit, place in places.items() if not place.exists()}
    if not (directory / CONFIG).exists():
        write_atomically(directory / CONFIG, config_text(secrets.randbelow(2**32), db_url))
    for unit, text in added.items():
        write_atomically(places[unit], text)
    return list(added)


def config_text(seed: int, db_url: str = "") -> str:
    """The configuration of a class whose hidden problems are chosen by ``seed``, with its gradebook at ``db_url``."""
    text = files("autograder").joinpath(CONFIG).read_text(encoding="utf-8")
    text = text.replace("c.MarkSubmission.seed = 0", f"c.MarkSubmission.seed = {seed}")
    return text.replace("# c.CourseDirectory.db_url = ", f"c.CourseDirectory.db_url = {db_url!r}  # ") if db_url else text


def course_directory(directory: Path) -> CourseDirectory:
    """The class as nbgrader sees it, by the configuration that is in it."""
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader(CONFIG, path=str(directory.resolve())).load_config()
    config.CourseDirectory.root = str(directory.resolve())
    return CourseDirectory(config=config)


class NoClassError(ValueError):
    """A directory that is no class, or one that cannot be read. One line: which, and why."""


def existing_class(directory: Path) -> CourseDirectory:
    """The class in a directory, as nbgrader sees it.

    Raises:
        NoClassError: there is none, or its configuration cannot be read.
    """
    if not (directory / CONFIG).is_file():
        raise NoClassError(f"{directory} is no class (it has no {CONFIG}); make one with gradaccum classroom init")
    try:
        return course_directory(directory)
    except Exception as error:  # a configuration is Python and may raise anything
        raise NoClassError(f"{directory / CONFIG}: {type(error).__name__}: {error}") from None


def notebook_text(script: Path) -> str:
    """The source notebook of a unit as file content."""
    import nbformat

    from autograder.solution_script import source_notebook  # which needs torch

    return nbformat.writes(source_notebook(script)) + "\n"


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that it is either as it was or complete, whatever happens in between."""
    with written_atomically(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


@contextlib.contextmanager
def written_atomically(path: Path) -> Iterator[Path]:
    """A place to write the new content of a file to, which becomes the file when this is left without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _is_called(unit: str, name: str) -> bool:
    return name in (unit, unit[:2])
