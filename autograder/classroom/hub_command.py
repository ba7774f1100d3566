"""The command ``gradaccum classroom hub``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.classroom.command_line import ClassDirectory, complain, ids, one_line_on_errors
from autograder.classroom.hub.hub_files import EXCHANGE, PLACES, PORT, HubSettings, open_to_others, write_hub_files


def hub(
    directory: ClassDirectory,
    instructors: Annotated[str, typer.Option(help="Their names on the hub, such as ada,bob; else who owns the class.")] = "",
    exchange: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Through which assignments travel, on one machine.")
    ] = EXCHANGE,
    ngshare: Annotated[str, typer.Option(metavar="URL", help="Of the service that takes the folder's place, in pods.")] = "",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where the class's own server listens, on one machine.")] = PORT,
) -> None:
    """Write into hub/ of a class what JupyterHub and nbgrader need for it; see docs/jupyterhub.md."""
    with one_line_on_errors("hub"):
        files = write_hub_files(directory, HubSettings(tuple(ids(instructors)), exchange, ngshare, port))
    for file in files:
        typer.echo(f"{file}: {PLACES[file.name]}")
    if not ngshare and open_to_others(directory):
        complain("hub", f"others on this machine can look into {directory}, solutions included: chmod go= {directory}")
