"""The ``gradaccum`` command."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.contract.devices import DEVICES, likely_device, pick_device
from autograder.contract.units import UNITS, is_called
from autograder.isolation.fork_server_client import shared_fork_server
from autograder.isolation.sandbox import BWRAP, NONE, ChildError
from autograder.reading.submissions import Submission, SubmissionError, read_submission
from autograder.support.extras import MissingExtraError, require_extra
from autograder.support.one_line import one_line
from autograder.support.os_trouble import os_trouble
from autograder.support.seeds import MAX_SEED

if TYPE_CHECKING:
    from autograder.marking.marker import Marks


MARKER_FAILED = 3
"""Exit status if an exercise is unmarked, or a command ended, by a fault of ours."""

app = typer.Typer(
    help="The gradient-accumulation course: its notebooks, its marker, and a watch for trainers.",
    no_args_is_help=True,
    add_completion=False,
)


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit: with 0 if it did its work, with 2 on unusable input, with 3 if the marker failed.

    On stderr there is a line for each complaint.
    """
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
    except Exception as error:
        _complain("gradaccum", _logged(error))
        sys.exit(MARKER_FAILED)


@app.command()
def course(
    directory: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="A folder, new or not; course if not given.")
    ] = None,
    units: Annotated[
        list[str] | None, typer.Option(metavar="LIST", help="Units, such as 03,04; all of them if not given.")
    ] = None,
) -> None:
    """Lay out the notebooks to work in. What is there stays as it is; the notebook of a newer release goes beside it."""
    from autograder.desk.course_folder import COURSE

    directory = directory or COURSE
    _lay_out("gradaccum course", directory, units)
    print(f"{directory}: open it with gradaccum lab {directory}, or with any other Jupyter")


@app.command(context_settings={"ignore_unknown_options": True})
def lab(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[DIR] [OPTIONS…]", help="A folder; options of jupyter lab.")
    ] = None,
) -> None:
    """Open a folder in JupyterLab; if it is new, lay out the notebooks in it first. It is course if none is given."""
    from autograder.desk.course_folder import COURSE, open_lab

    _require("gradaccum lab", "lab")
    options = list(arguments or ())
    directory = COURSE if not options or options[0].startswith("-") else Path(options.pop(0))
    if not directory.is_dir() or not any(directory.iterdir()):
        _lay_out("gradaccum lab", directory)
    open_lab(directory, options)


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def watch(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT.py", help="A script that trains a model.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[ARGS…]", help="Its own arguments.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document; the script's output goes to stderr.")
    ] = False,
    updates: Annotated[int | None, typer.Option(min=1, help="Stop watching after so many updates.")] = None,
    accumulation_steps: Annotated[int | None, typer.Option(min=1, help="Micro-batches an update is meant to hold.")] = None,
) -> None:
    """Run a training script and say which micro-batches are in its updates, and how much of each.

    The exit status is 0 if that is due, 1 if it is not, 3 if it cannot be told, and the script's own if that fails.
    """
    from gradaccum.watching.script import watch_script

    try:
        status = watch_script(script, arguments or [], accumulation_steps=accumulation_steps, updates=updates, as_json=as_json)
    except FileNotFoundError as error:
        _complain("gradaccum watch", str(error))
        raise typer.Exit(2) from None
    raise typer.Exit(status)


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
    """Mark files. A function that a file lacks counts 0; a file that cannot be marked is reported, and the rest is marked.

    If the marker itself fails on an exercise, that exercise is unmarked, and the exit status is 3.
    """
    try:
        wanted = _unit_named(unit)
        if gradescope and len(files) > 1:
            raise ValueError("--gradescope is for one submission; name one file")
    except ValueError as error:
        _complain("gradaccum check", str(error))
        raise typer.Exit(2) from None
    submissions, complaints, broken = _read(files, wanted, follow=not (sandbox or gradescope))
    where = BWRAP if sandbox else NONE
    if submissions and device in DEVICES:
        _launch_fork_server(where, device)
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
            marks = _mark(submission, seed, device, where)
        except SubmissionError as error:
            complaints.append(error)
            _complain("gradaccum check", str(error))
            continue
        except ChildError as error:
            _complain("gradaccum check", str(error))
            raise typer.Exit(2) from None
        marks = marks.with_faults_logged()
        marked.append(marks)
        for name, fault in marks.faults.items():
            _complain(
                "gradaccum check", f"{marks.file}: {name} is unmarked: the marker failed ({fault.reason}); see {fault.log}"
            )
        if not as_json:
            from autograder.desk.marks_table import print_marks

            print_marks(marks)
    if as_json:
        print(json.dumps({"files": [marks.as_json() for marks in marked]}))
    if gradescope and (marked or complaints):
        _write_gradescope(gradescope, marked, complaints, wanted or "")
    if broken or any(marks.faults for marks in marked):
        raise typer.Exit(MARKER_FAILED)
    if complaints and not gradescope:
        raise typer.Exit(2)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
    help="Hand out, mark and report a class with nbgrader; see gradaccum classroom --help.",
)
def classroom(context: typer.Context) -> None:
    """Call :mod:`autograder.classroom.commands`, which is imported only now because it needs torch and nbgrader."""
    _require("gradaccum classroom", "classroom")
    from autograder.classroom.commands import app as classroom_app

    raise typer.Exit(classroom_app(context.args, prog_name="gradaccum classroom", standalone_mode=False) or 0)


def _require(command: str, extra: str) -> None:
    """End the program if an extra is not installed, and say how to install it."""
    try:
        require_extra(extra)
    except MissingExtraError as error:
        _complain(command, str(error))
        raise typer.Exit(2) from None


def _lay_out(command: str, directory: Path, units: list[str] | None = None) -> None:
    """Lay out the notebooks of these units in a folder and print what happened, or end the program and say why."""
    from autograder.desk.course_folder import lay_out
    from autograder.publishing.nbgrader_course import pick_units

    try:
        written, remarks = lay_out(directory, pick_units(dict.fromkeys(UNITS, directory), units))
    except ValueError as error:
        _complain(command, str(error))
        raise typer.Exit(2) from None
    except OSError as error:
        _complain(command, os_trouble(error))
        raise typer.Exit(2) from None
    for line in [f"{path}: new" for path in written] + remarks:
        print(line)


def _unit_named(name: str) -> str | None:
    unit = next((unit for unit in UNITS if is_called(unit, name)), None)
    if name and unit is None:
        raise ValueError(f"no unit is called {name!r}; there are {', '.join(UNITS)}")
    return unit


def _write_gradescope(path: Path, marked: list[Marks], complaints: list[SubmissionError], unit: str) -> None:
    from autograder.hosts.gradescope import results, results_of_unusable, write_results

    try:
        document = results(marked[0]) if marked else results_of_unusable(str(complaints[0]), unit)
        if document is None:
            path.unlink(missing_ok=True)
            for fault in marked[0].faults.values():
                print(fault.traceback, file=sys.stderr)  # this machine, with its log, will be gone
            return
        write_results(path, document)
    except OSError as error:
        _complain("gradaccum check", os_trouble(error))
        raise typer.Exit(2) from None


def _read(files: list[Path], unit: str | None, follow: bool) -> tuple[list[Submission], list[SubmissionError], int]:
    """The submissions, what is wrong with files that cannot be marked, and how many files the marker failed to read."""
    submissions, complaints, broken = [], [], 0
    for file in files:
        try:
            submission = read_submission(file, unit, follow)
            submissions.append(submission)
            if submission.damage:
                _complain("gradaccum check", f"{file} {submission.damage}")
        except SubmissionError as error:
            complaints.append(error)
        except Exception as error:
            _complain("gradaccum check", f"{file}: {_logged(error)}")
            broken += 1
    return submissions, complaints, broken


def _launch_fork_server(sandbox: str, device: str) -> None:
    """Have the fork server import torch while this process does. If it cannot be started, marking will say why."""
    with contextlib.suppress(ChildError):
        shared_fork_server(sandbox, likely_device() if device == "auto" else device)


def _mark(submission: Submission, seed: int, device: str, sandbox: str) -> Marks:
    from autograder.marking.marker import mark_submission  # imports torch, which a complaint does not have to wait for

    return mark_submission(submission, seed=seed, device=device, sandbox=sandbox)


def _complain(command: str, problem: str) -> None:
    print(one_line(f"{command}: {problem}"), file=sys.stderr)


def _logged(error: Exception) -> str:
    """What to say of an error that nobody expected; its traceback is in the log."""
    from autograder.marking.faults import fault_of
    from autograder.support.error_log import log_error

    fault = fault_of(error)
    return f"the marker failed ({fault.reason}); see {log_error(fault.traceback)}"
