"""Observe every exercise of a submission, in the process that was made for it. Nothing is judged here.

The request arrives over a socket, and over it go back what is about to be done (so that whoever waits knows what ended this
process, should it end), what the cells printed, and, exercise by exercise, what was observed.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import NoReturn

import torch

import autograder.exercises  # noqa: F401 - registers them
from autograder import transport
from autograder.exercise import EXERCISES, Exercise, Failure, Observation, observe_trials
from autograder.huge_pages import use_huge_pages
from autograder.no_collections import no_collections
from autograder.running import CellReport, Limits, Loaded, as_main, run
from autograder.student_code import quiet
from autograder.submissions import Cell
from gradaccum.loops import GALLERY

REQUEST, PROGRESS, SAID, OBSERVED = b"R", b"P", b"S", b"O"
READY, LOADED, FINISHED = "ready", "loaded", "finished"

GOT_THROUGH = 85
"""Exit status of a copy that brought back an exercise. A submission that ends with it fails like one that ends otherwise."""

USUAL_IMPORTS = (
    *("matplotlib.pyplot", "ipywidgets", "IPython.display", "numpy", "torch.func", "torch.amp", "torch.utils.checkpoint"),
    *("autograder.check", "autograder.progress", "autograder.puzzle", "gradaccum.explore", "gradaccum.predict"),
    *("gradaccum.showing", "gradaccum.components", "gradaccum.noise"),
)
"""What notebooks of the course and their students import. Some of it need not be there."""

Progress = str | int | tuple[str, str]
"""What the process is about to do: a word, the number of a statement, or an exercise and one of its trials."""


@dataclass(frozen=True)
class Request:
    """What to observe: see the arguments of :func:`autograder.running.run` and :func:`observe_exercise`."""

    cells: Sequence[Cell]
    exercises: Sequence[str]
    seed: int
    device: str
    limits: Limits
    skip: Sequence[int] = ()

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, data: bytes) -> Request:
        content = json.loads(data)
        cells, limits = [Cell(**cell) for cell in content["cells"]], Limits(**content["limits"])
        return cls(**content | {"cells": cells, "limits": limits})


def observe_exercise(
    exercise: Exercise,
    loaded: Loaded,
    seed: int,
    device: str,
    limits: Limits,
    before: Callable[[str], None] = lambda trial: None,
) -> dict[str, Observation]:
    """What the submission's function brings back on each trial of an exercise, as plain data; announces them to ``before``."""
    function = loaded.namespace.get(exercise.id)
    if not callable(function):
        trials = list(exercise.trials(seed, device))
        before(trials[0])
        return dict.fromkeys(trials, Observation(failure=Failure("missing", loaded.why_missing(exercise.id))))
    with as_main(loaded.module):
        observations = observe_trials(exercise, function, seed, device, limits.trial, before)
    return {name: transport.plain(observation) for name, observation in observations.items()}


def get_ready(device: str = "cpu") -> None:
    """Import and set up what every submission needs, in the process they are forked from; leaves it with one thread.

    One whose forks are to use a GPU computes nothing and asks nothing of CUDA. Either would cost them the GPU: a fork can take
    over neither CUDA from its parent nor the threads that autograd has where it sees a GPU.
    """
    torch.set_num_threads(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    sys.argv = ["submission"]
    with no_collections():
        for name in USUAL_IMPORTS:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        if device == "cpu":
            _first_loop("cpu")
        gc.collect()  # from the end of the block on a collection in a fork does not copy the pages of all these objects
    use_huge_pages()


def _first_loop(device: str) -> None:
    """The first loop of a process is slow: optimizers import the compiler, tensors numpy, and a GPU is to be woken up."""
    with quiet():
        transport.encode(observe_trials(EXERCISES["train_epoch"], GALLERY["right"], 0, device))


def serve(channel: socket.socket) -> NoReturn:
    """Observe what the request asks for, then leave without looking back: threads a submission started are not waited for.

    Each exercise is observed in a copy of this process, so that what one function changes, or leaves running, costs no other.
    """
    _, asked = transport.receive(channel)
    request = Request.decode(asked)
    sys.path.append(os.getcwd())  # last, so that a file called torch.py hides nothing
    note = _noter(channel)
    if request.device != "cpu":
        _first_loop(request.device)
    note(READY)
    loaded = run(request.cells, request.limits, request.skip, note)
    note(LOADED)
    transport.send(channel, SAID, CellReport.encode(loaded.reports()))
    apart = _in_a_copy if request.device == "cpu" else _here  # CUDA does not survive in a copy
    for exercise in (EXERCISES[name] for name in request.exercises):
        apart(lambda exercise=exercise: _bring_back(channel, exercise, loaded, request))
        if request.device != "cpu" and not _still_computes(request.device):
            os._exit(1)  # another process observes the rest
    note(FINISHED)
    os._exit(0)


def _still_computes(device: str) -> bool:
    """Whether a GPU does: after an index out of range, say, it refuses all that the same process asks for later."""
    try:
        return torch.ones(2, device=device).sum().item() == 2
    except RuntimeError:
        return False


def _bring_back(channel: socket.socket, exercise: Exercise, loaded: Loaded, request: Request) -> None:
    note = _noter(channel)
    before = functools.partial(_note_trial, note, exercise.id)
    observed = observe_exercise(exercise, loaded, request.seed, request.device, request.limits, before)
    note(LOADED)
    name = exercise.id.encode()
    transport.send(channel, OBSERVED, bytes([len(name)]) + name + transport.encode(observed))


def _note_trial(note: Callable[[Progress], None], exercise: str, trial: str) -> None:
    note((exercise, trial))


def _here(work: Callable[[], None]) -> None:
    work()


def _in_a_copy(work: Callable[[], None]) -> None:
    """Do something in a copy of this process; if that does not get to its end, this process ends as the copy did."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            torch.set_num_threads(1)  # threads of the original are not there
            work()
            code = GOT_THROUGH
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    if code != GOT_THROUGH:
        os._exit(abs(code))


def _noter(channel: socket.socket) -> Callable[[Progress], None]:
    """Note what comes next; a copy of this process, made by a submission with fork, ends here instead of going on."""
    process = os.getpid()

    def note(what: Progress) -> None:
        if os.getpid() != process:
            os._exit(0)
        transport.send(channel, PROGRESS, json.dumps(what).encode())

    return note
