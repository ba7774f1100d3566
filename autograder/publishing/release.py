"""Build ``course/``, and the marker's copies, from ``solutions/``: ``python -m autograder.publishing.release``.

nbgrader's own ``generate_assignment`` makes the students' notebooks, in a course directory like the one an instructor gets
from ``gradaccum classroom init``. The marker's copies are its output as it is: the same scripts give the same bytes everywhere.
Those in ``course/`` have pictures as well, see :mod:`autograder.publishing.stills`. How to write a script is said in
:mod:`autograder.publishing.solution_script`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from autograder.publishing.nbgrader_course import SOLUTIONS, course_directory, make_course
from autograder.publishing.solution_script import ScriptError, unit_scripts
from autograder.support.atomic_files import write_atomically

COURSE = SOLUTIONS.with_name("course")

FOR_THE_MARKER = Path(__file__).parents[1] / "released"
"""Copies of the same notebooks that students do not work in, see :mod:`autograder.released`."""

app = typer.Typer(add_completion=False)


@app.command()
def release(
    solutions: Annotated[Path, typer.Option(metavar="DIR", help="Where the scripts are.")] = SOLUTIONS,
    course: Annotated[Path, typer.Option(metavar="DIR", help="Where the notebooks go.")] = COURSE,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; say what is stale, and exit with 1.")] = False,
) -> None:
    """Build the students' notebooks from the solution scripts."""
    from autograder.publishing.stills import with_stills

    try:
        notebooks = build(unit_scripts(solutions))
        places = {course: {unit: with_stills(text) for unit, text in notebooks.items()}}
        if course.resolve() == COURSE:
            places[FOR_THE_MARKER] = notebooks
        stale = {path: reason for place, texts in places.items() for path, reason in stale_files(texts, place).items()}
        for path, text in (
            () if check else ((place / f"{u}.ipynb", text) for place in places for u, text in places[place].items())
        ):
            write_atomically(path, text)
    except (ValueError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    for path, reason in stale.items():
        typer.echo(f"{path}: {reason}")
    if check and stale:
        raise typer.Exit(1)
    typer.echo(f"{course}: {len(notebooks)} notebooks, {'up to date' if check or not stale else 'built'}")


def build(scripts: Mapping[str, Path]) -> dict[str, str]:
    """The notebook of each unit that nbgrader releases, as file content.

    Raises:
        ScriptError: a script cannot be released.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.utils import capture_log

    with tempfile.TemporaryDirectory(prefix="release-") as place:
        make_course(Path(place), scripts)
        directory = course_directory(Path(place))
        directory.config.SaveCells.enabled = False  # with no_database: the same notebooks without a gradebook
        notebooks = {}
        for unit in scripts:
            directory.assignment_id = unit
            converter = GenerateAssignment(coursedir=directory, config=directory.config, no_database=True)
            said = capture_log(converter)
            if not said["success"]:
                raise ScriptError(f"nbgrader could not release {unit}:\n{said['log']}")
            notebooks[unit] = (Path(place) / "release" / unit / f"{unit}.ipynb").read_text(encoding="utf-8")
        return notebooks


def stale_files(notebooks: Mapping[str, str], course: Path) -> dict[Path, str]:
    """Files of a folder that are not these notebooks, each with the reason."""
    stale = {}
    for unit, text in notebooks.items():
        path = course / f"{unit}.ipynb"
        if not path.exists():
            stale[path] = "new"
        elif path.read_bytes() != text.encode():
            stale[path] = "differs from its solution script"
    for path in sorted(course.glob("*.ipynb")):
        if path.stem not in notebooks and re.fullmatch(r"\d\d_[a-z0-9_]+", path.stem):
            stale[path] = "has no solution script any more; delete it"
    return stale


if __name__ == "__main__":
    app(prog_name="python -m autograder.publishing.release")
