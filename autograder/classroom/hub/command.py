"""The command ``gradaccum classroom hub``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.classroom.hub.hub_files import EXCHANGE, PLACES, PORT, HubSettings, open_to_others, write_hub_files
from autograder.support.one_line import one_line


def hub(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A class, made by init.")],
    instructors: Annotated[str, typer.Option(help="Their names on the hub, such as ada,bob; else who owns the class.")] = "",
    exchange: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Through which assignments travel, on one machine.")
    ] = EXCHANGE,
    ngshare: Annotated[str, typer.Option(metavar="URL", help="Of the service that takes the folder's place, in pods.")] = "",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where the class's own server listens, on one machine.")] = PORT,
) -> None:
    """Write into hub/ of a class what JupyterHub and nbgrader need for it; see docs/jupyterhub.md."""
    names = tuple(name.strip() for name in instructors.split(",") if name.strip())
    try:
        files = write_hub_files(directory, HubSettings(names, exchange, ngshare, port))
    except OSError as error:
        _complain(f"{error.filename}: {error.strerror}")
        raise typer.Exit(2) from None
    except ValueError as error:
        _complain(str(error))
        raise typer.Exit(2) from None
    for file in files:
        typer.echo(f"{file}: {PLACES[file.name]}")
    if not ngshare and open_to_others(directory):
        _complain(f"others on this machine can look into {directory}, solutions included: chmod go= {directory}")


def _complain(problem: str) -> None:
    typer.echo(one_line(f"gradaccum classroom hub: {problem}"), err=True)
