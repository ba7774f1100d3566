"""What all commands of ``gradaccum classroom`` share: common arguments, errors in a line each, a class that is locked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.support.one_line import one_line
from autograder.support.os_trouble import os_trouble

if TYPE_CHECKING:
    from autograder.classroom.grading.class_to_mark import ClassToMark

Database = Annotated[str, typer.Option("--db", metavar="URL", help="The gradebook's database, such as postgresql://…")]
ClassDirectory = Annotated[Path, typer.Argument(metavar="DIR", help="A class, made by init.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that are there already.")]
Students = Annotated[list[str] | None, typer.Option(metavar="LIST", help="Ids, such as ada,bob; all if not given.")]
Units = Annotated[list[str] | None, typer.Option(metavar="LIST", help="Units, such as 03,04; all of them if not given.")]


def seen_from_here(path: Path, directory: Path) -> Path:
    """A path in a class as the class was named on the command line; other paths as they are."""
    whole, root = path.resolve(), directory.resolve()
    return directory / whole.relative_to(root) if whole.is_relative_to(root) else path


def complain(command: str, problem: str) -> None:
    """Print a problem to stderr, in one line that begins with the command."""
    typer.echo(one_line(f"gradaccum classroom {command}: {problem}"), err=True)


@contextlib.contextmanager
def one_line_on_errors(command: str, on_ctrl_c: str = "start it again and it goes on") -> Iterator[None]:
    """Print expected errors to stderr in a line each and exit with status 2; on Ctrl-C print a line and exit with 130."""
    from autograder.classroom.grading.class_to_mark import GradingError
    from autograder.classroom.grading.jobs import WorkersError
    from autograder.classroom.release import ReleaseError
    from autograder.isolation.sandbox import ChildError

    status = 2
    try:
        yield
    except KeyboardInterrupt:
        reasons, status = [f"stopped; {on_ctrl_c}"], 130
    except OSError as error:
        reasons = [os_trouble(error)]
    except (ValueError, GradingError, ReleaseError, WorkersError, ChildError) as error:
        reasons = str(error).splitlines()
    else:
        return
    for reason in reasons:
        complain(command, reason)
    raise typer.Exit(status) from None


@contextlib.contextmanager
def locked_class(command: str, directory: Path, db: str) -> Iterator[ClassToMark]:
    """The class in a directory, which no other process changes meanwhile; errors as in :func:`one_line_on_errors`."""
    with one_line_on_errors(command):
        from autograder.classroom.grading.class_to_mark import ClassToMark

        marked_class = ClassToMark(directory, db)
        with marked_class.locked():
            yield marked_class
