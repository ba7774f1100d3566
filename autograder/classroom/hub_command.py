"""The command ``gradaccum classroom hub``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.classroom.command_line import ClassDirectory, complain, one_line_on_errors
from autograder.classroom.hub.hub_files import EXCHANGE, PLACES, PORT, HubSettings, open_to_others, write_hub_files
from autograder.support.names import names_in


def hub(
    directory: ClassDirectory,
    instructors: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Their names on the hub, such as ada,bob; by default the owner of the class."),
    ] = None,
    exchange: Annotated[
        Path, typer.Option(metavar="FOLDER", help="On one machine: what assignments travel through.")
    ] = EXCHANGE,
    ngshare: Annotated[str, typer.Option(metavar="URL", help="In pods: the service that takes the folder's place.")] = "",
    port: Annotated[int, typer.Option(min=1, max=65535, help="On one machine: where the class's own server listens.")] = PORT,
) -> None:
    """Write into hub/ of a class what JupyterHub and nbgrader need for it; see docs/jupyterhub.md."""
    with one_line_on_errors("hub"):
        files = write_hub_files(directory, HubSettings(tuple(names_in(instructors)), exchange, ngshare, port))
    for file in files:
        typer.echo(f"{file}: {PLACES[file.name]}")
    if not ngshare and open_to_others(directory):
        complain("hub", f"others on this machine can look into {directory}, solutions included: chmod go= {directory}")
