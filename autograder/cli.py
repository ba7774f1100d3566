"""The ``gradaccum`` command."""

from __future__ import annotations

import gc
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.contract.devices import DEVICES, pick_device
from autograder.contract.units import UNITS
from autograder.isolation.fork_server_client import shared_fork_server
from autograder.isolation.sandbox import BWRAP, NONE, ChildError
from autograder.reading.submissions import Submission, SubmissionError, read_submission
from autograder.support.one_line import one_line
from autograder.support.seeds import MAX_SEED

if TYPE_CHECKING:
    from autograder.marking.marker import Marks


app = typer.Typer(help="Mark notebooks of the gradient-accumulation course.", no_args_is_help=True, add_completion=False)


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit: with 0 if it did its work, with 2 on unusable input and a line on stderr for each complaint."""
    gc.set_threshold(50_000, 20, 10)  # with Python's own, collections took a fifth of the time of imports
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a student's text may hold what a terminal cannot show
    try:
        sys.exit(app(arguments, prog_name="gradaccum", standalone_mode=False))
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "gradaccum"
        if message := error.format_message().rstrip("."):  # empty if there was no argument and the help was printed
            _complain(command, f"{message}; see {command} --help")
        sys.exit(2)
    except typer.Abort:
        sys.exit(130)


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Notebooks (.ipynb) or Python files (.py).")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")] = False,
    device: Annotated[str, typer.Option(metavar="|".join(DEVICES), help="Where to mark.")] = "auto",
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Chooses the hidden problems.")] = 0,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Run other people's code in a sandbox, as for a class.")] = False,
    unit: Annotated[str, typer.Option(metavar="NN", help="The unit to mark; recognised in each file if not given.")] = "",
    gradescope: Annotated[
        Path | None, typer.Option(metavar="JSON", help="Write results.json for Gradescope; an unusable file gets 0 there.")
    ] = None,
) -> None:
    """Mark files. A function that a file lacks counts 0; a file that cannot be marked is reported, and the rest is marked."""
    try:
        wanted = _unit_named(unit)
        if gradescope and len(files) > 1:
            raise ValueError("--gradescope is for one submission; name one file")
    except ValueError as error:
        _complain("gradaccum check", str(error))
        raise typer.Exit(2) from None
    submissions, complaints = _read(files, wanted, follow=not (sandbox or gradescope))
    try:
        device = pick_device(device) if submissions or device not in DEVICES else device
    except ValueError as error:
        _complain("gradaccum check", str(error))
        raise typer.Exit(2) from None
    for complaint in complaints:
        _complain("gradaccum check", str(complaint))
    marked = []
    for submission in submissions:
        try:
            marks = _mark(submission, seed, device, sandbox)
        except SubmissionError as error:
            complaints.append(error)
            _complain("gradaccum check", str(error))
            continue
        except ChildError as error:
            _complain("gradaccum check", str(error))
            raise typer.Exit(2) from None
        marked.append(marks)
        if not as_json:
            from autograder.desk.marks_table import print_marks

            print_marks(marks)
    if as_json:
        print(json.dumps({"files": [marks.as_json() for marks in marked]}))
    if gradescope:
        _write_gradescope(gradescope, marked, complaints, wanted or "")
    elif complaints:
        raise typer.Exit(2)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
    help="Hand out, mark and report a class with nbgrader; see gradaccum classroom --help.",
)
def classroom(context: typer.Context) -> None:
    """Call :mod:`autograder.classroom.commands`, which is imported only now because it needs torch and nbgrader."""
    from autograder.classroom.commands import app as classroom_app

    raise typer.Exit(classroom_app(context.args, prog_name="gradaccum classroom", standalone_mode=False) or 0)


def _unit_named(name: str) -> str | None:
    unit = next((unit for unit in UNITS if name in (unit, unit[:2])), None)
    if name and unit is None:
        raise ValueError(f"no unit is called {name!r}; there are {', '.join(UNITS)}")
    return unit


def _write_gradescope(path: Path, marked: list[Marks], complaints: list[SubmissionError], unit: str) -> None:
    from autograder.hosts.gradescope import results, results_of_unusable, write_results

    try:
        write_results(path, results(marked[0]) if marked else results_of_unusable(str(complaints[0]), unit))
    except OSError as error:
        _complain("gradaccum check", f"{error.filename}: {error.strerror}")
        raise typer.Exit(2) from None


def _read(files: list[Path], unit: str | None, follow: bool) -> tuple[list[Submission], list[SubmissionError]]:
    submissions, complaints = [], []
    for file in files:
        try:
            submissions.append(read_submission(file, unit, follow))
        except SubmissionError as error:
            complaints.append(error)
    return submissions, complaints


def _mark(submission: Submission, seed: int, device: str, sandbox: bool) -> Marks:
    where = BWRAP if sandbox else NONE
    shared_fork_server(where, device)  # it imports torch while this process does
    from autograder.marking.marker import mark_submission  # imports torch, which a complaint does not have to wait for

    return mark_submission(submission, seed=seed, device=device, sandbox=where)


def _complain(command: str, problem: str) -> None:
    print(one_line(f"{command}: {problem}"), file=sys.stderr)
