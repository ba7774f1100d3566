"""Observe every exercise of a submission, in the process that was forked for it. Nothing is judged here.

A request arrives over a socket: the submission's code and the trials to run its functions on. The process sends back what it is
about to do (so that the caller knows what ended this process, if it ends), what the cells printed and, exercise by exercise,
what was observed. Nothing that judges or names mistakes is imported in it, and the seed of a class is not sent to it. The
gallery of loops is there, as it is for students.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pickle
import signal
import socket
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NoReturn

import torch

from autograder.contract.cell import Cell
from autograder.contract.observation import Observation
from autograder.contract.units import UNITS
from autograder.exercises import observers_of
from autograder.isolation import wire
from autograder.isolation.cell_reports import CellReport
from autograder.isolation.huge_pages import use_huge_pages
from autograder.isolation.limits import Limits
from autograder.isolation.statement_runner import Loaded, as_main, run
from autograder.observing.loops import LoopTrial, observe_loop
from autograder.observing.student_calls import silenced
from autograder.observing.trials import observe_trials
from autograder.support.garbage_collection import collection_paused, freeze_objects
from gradaccum.loops import GALLERY
from gradaccum.problems import Problem, best_dtype

REQUEST, PROGRESS, CELL_REPORTS, OBSERVED = b"R", b"P", b"S", b"O"


READY, LOADED, FINISHED = "ready", "loaded", "finished"


FORK_SUCCEEDED = 85
"""Exit status of a fork that observed its exercise. A submission that exits with it fails as with any other status."""


USUAL_IMPORTS = (
    *("matplotlib.pyplot", "ipywidgets", "IPython.display", "numpy", "torch.func", "torch.amp", "torch.utils.checkpoint"),
    *("autograder.devices", "gradaccum.explore", "gradaccum.predict", "gradaccum.showing", "gradaccum.components"),
    "gradaccum.noise",
)
"""What students import. Some of these modules may be missing."""

STAND_INS = {
    "autograder.check": "check",
    "autograder.progress": "show_progress",
    "autograder.puzzle": "show_puzzle",
    "gradaccum.phenomena.run_drift": "compute",
}
"""What a notebook calls to show something, in modules that hold answers. Here these functions do nothing."""

Progress = str | int | tuple[str, str]
"""What the process is about to do: a word, the number of a statement, or an exercise and one of its trials."""


@dataclass(frozen=True)
class Request:
    """What to observe.

    It is pickled, which is safe only in this direction: the marker sends it, and it is read before any student code runs.

    Attributes:
        cells, limits, skip: as :func:`autograder.isolation.statement_runner.run` takes them.
        unit: whose exercises.
        trials: for each exercise the trials to observe, by name.
        device: the device that the trials name.
    """

    cells: Sequence[Cell]
    unit: str
    trials: Mapping[str, Mapping[str, Any]]
    device: str
    limits: Limits
    skip: Sequence[int] = ()

    def encode(self) -> bytes:
        return pickle.dumps(self)

    @staticmethod
    def decode(data: bytes) -> Request:
        return pickle.loads(data)


def observe_exercise(
    unit: str,
    exercise: str,
    trials: Mapping[str, Any],
    loaded: Loaded,
    limits: Limits,
    before: Callable[[str], None] = lambda trial: None,
) -> dict[str, Observation]:
    """What a submission's function does on each trial of an exercise, as plain data. Each trial is announced to ``before``."""
    function = loaded.namespace.get(exercise)
    if not callable(function):
        before(next(iter(trials)))
        return dict.fromkeys(trials, Observation(failure=loaded.why_missing(exercise)))
    with as_main(loaded.module):
        observations = observe_trials(observers_of(unit)[exercise], function, trials, limits.trial, before)
    return {name: wire.plain(observation) for name, observation in observations.items()}


def get_ready(device: str = "cpu", many: bool = False) -> None:
    """Import and set up what every submission needs, in the process they are forked from. It is left with one thread.

    If its forks are to use a GPU it computes nothing and asks nothing of CUDA. Either would cost them the GPU: a fork inherits
    neither CUDA from its parent nor the threads that autograd has where it sees a GPU.

    Args:
        device: of the submissions.
        many: whether so many follow that it pays to import what only some of them use, and to have forks copy less. Both take
            as long as half of all the rest.
    """
    torch.set_num_threads(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    sys.argv = ["submission"]
    with collection_paused():
        for unit in UNITS:
            observers_of(unit)
        _install_stand_ins()
        if device == "cpu":
            run_first_loop("cpu")
        for name in USUAL_IMPORTS if many else ():
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    freeze_objects()
    if many:
        use_huge_pages()


def _install_stand_ins() -> None:
    """Let notebooks import the functions that show something at a student's desk, and let these do nothing."""
    for module, function in STAND_INS.items():
        stand_in = types.ModuleType(module)
        setattr(stand_in, function, _do_nothing)
        sys.modules[module] = stand_in
        parent, _, name = module.rpartition(".")
        setattr(importlib.import_module(parent), name, stand_in)


def _do_nothing(*arguments: object, **keywords: object) -> None:
    pass


@cache
def run_first_loop(device: str) -> None:
    """Run a loop, once in a process. The first is slow: optimizers import the compiler, tensors numpy, and a GPU starts."""
    problem = Problem(0, 2, ((2, 2, 2), (1, 2)), device=device, dtype=best_dtype(device), gated=True, coupled=True)
    trials = {"moving": LoopTrial(problem, meter=True), "frozen": LoopTrial(problem, frozen=True)}
    with silenced():
        wire.encode(observe_trials(observe_loop, GALLERY["right"], trials))


def serve(channel: socket.socket) -> NoReturn:
    """Observe what the request asks for, then exit at once, without waiting for threads that a submission started.

    On the CPU each exercise is observed in a fork of this process, so that what one function changes, or leaves running, costs
    no other exercise anything.
    """
    _, asked = wire.receive(channel)
    request = Request.decode(asked)
    sys.path.append(os.getcwd())  # last, so that a file called torch.py shadows nothing
    report_progress = _progress_reporter(channel)
    if request.device != "cpu":
        run_first_loop(request.device)
    report_progress(READY)
    loaded = run(request.cells, request.limits, request.skip, report_progress)
    report_progress(LOADED)
    wire.send(channel, CELL_REPORTS, CellReport.encode(loaded.reports()))
    for exercise in request.trials:
        observe = partial(_send_observations, channel, exercise, loaded, request)
        if request.device == "cpu":
            _in_a_fork(observe)
        else:
            observe()  # CUDA does not survive a fork
        if request.device != "cpu" and not _still_computes(request.device):
            os._exit(1)  # another process observes the rest
    report_progress(FINISHED)
    os._exit(0)


def _still_computes(device: str) -> bool:
    """Whether a GPU still computes: after an index out of range, for example, it refuses all that the same process asks for."""
    try:
        return torch.ones(2, device=device).sum().item() == 2
    except RuntimeError:
        return False


def _send_observations(channel: socket.socket, exercise: str, loaded: Loaded, request: Request) -> None:
    report_progress = _progress_reporter(channel)

    def before(trial: str) -> None:
        report_progress((exercise, trial))

    observed = observe_exercise(request.unit, exercise, request.trials[exercise], loaded, request.limits, before)
    report_progress(LOADED)
    name = exercise.encode()
    wire.send(channel, OBSERVED, bytes([len(name)]) + name + wire.encode(observed))


def _in_a_fork(work: Callable[[], None]) -> None:
    """Do something in a fork of this process. If the fork does not get to its end, this process ends as the fork did."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            torch.set_num_threads(1)  # a fork does not have its parent's other threads
            work()
            code = FORK_SUCCEEDED
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    if code != FORK_SUCCEEDED:
        os._exit(abs(code))


def _progress_reporter(channel: socket.socket) -> Callable[[Progress], None]:
    """A function that says what comes next. In a fork that a submission made of this process it ends the fork instead."""
    process = os.getpid()

    def report(what: Progress) -> None:
        if os.getpid() != process:
            os._exit(0)
        wire.send(channel, PROGRESS, json.dumps(what).encode())

    return report
