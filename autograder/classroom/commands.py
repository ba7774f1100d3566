"""``gradaccum classroom``: a class is an nbgrader course directory with the units of the course."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.classroom.course import SOLUTIONS, course_directory, make_course, pick_units
from autograder.solution_script import unit_scripts

app = typer.Typer(help="Hand out, mark and report a class with nbgrader.", no_args_is_help=True, add_completion=False)


@app.callback()
def _group() -> None:
    """Makes ``init`` a command of its own also while it is the only one."""


@app.command()
def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty directory, or a class to complete.")],
    units: Annotated[str, typer.Option(help="Units, such as 03,04; all of them if not given.")] = "",
    roster: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Students: columns id, first_name, last_name, email.")
    ] = None,
) -> None:
    """Make an nbgrader course directory: source notebooks, configuration and, if given, the students."""
    from autograder.classroom.roster import enrol, read_roster
    from autograder.provisioner import install_kernelspec

    try:
        students = read_roster(roster) if roster else ()
        scripts = pick_units(unit_scripts(SOLUTIONS), units)
        added = make_course(directory, scripts)
        install_kernelspec()
        if students:
            enrol(students, course_directory(directory).db_url)
    except (ValueError, OSError) as error:
        reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        for line in reason.splitlines():
            typer.echo(f"gradaccum classroom init: {line}", err=True)
        raise typer.Exit(2) from None
    kept = [unit for unit in scripts if unit not in added]
    typer.echo(f"{directory}: a class with {', '.join(scripts)}" + (f" and {len(students)} students" if students else ""))
    if kept:
        typer.echo(f"already there and left as they were: {', '.join(kept)}")
    typer.echo(f"next: cd {directory} && nbgrader generate_assignment {next(iter(scripts))}")
