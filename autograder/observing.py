"""Observe every exercise of a submission, in this process, or as the child process ``python -m autograder.observing DIR``.

The child reads a request from its standard input and writes one file for each exercise into DIR, as soon as it has it. It
judges nothing. Into ``DIR/progress`` it writes what it is about to do, so that its parent knows what ended it, should it end.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import torch

import autograder.exercises  # noqa: F401 - registers them
from autograder import transport
from autograder.exercise import EXERCISES, Exercise, Failure, Observation, observe_trials
from autograder.running import Limits, Loaded, as_main, run
from autograder.submissions import Cell

PROGRESS = "progress"
READY, FINISHED = "ready", "finished"

Progress = str | int | tuple[str, str]
"""What the child is about to do: a word, the number of a statement, or an exercise and one of its trials."""


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
        missing = Observation(failure=Failure("missing", loaded.why_missing(exercise.id)))
        return dict.fromkeys(exercise.trials(seed, device), missing)
    with as_main(loaded.module):
        observations = observe_trials(exercise, function, seed, device, limits.trial, before)
    return {name: transport.plain(observation) for name, observation in observations.items()}


def request(
    cells: Sequence[Cell], exercises: Sequence[str], seed: int, device: str, limits: Limits, skip: Sequence[int]
) -> bytes:
    """What to tell the child: see the arguments of :func:`run` and :func:`observe_exercise`."""
    content = {"cells": [asdict(cell) for cell in cells], "exercises": exercises, "seed": seed, "device": device}
    return json.dumps(content | {"limits": asdict(limits), "skip": skip}).encode()


def main() -> None:
    """The child: observe what the request asks for, then leave without looking back."""
    place = Path(sys.argv[1])
    asked = json.loads(sys.stdin.buffer.read())
    limits, device, seed = Limits(**asked["limits"]), asked["device"], asked["seed"]
    _settle_in(device, limits)
    note = _noter(place)
    note(READY)
    loaded = run([Cell(**cell) for cell in asked["cells"]], limits, asked["skip"], note)
    for exercise in (EXERCISES[name] for name in asked["exercises"]):

        def note_trial(trial: str, exercise_id: str = exercise.id) -> None:
            note((exercise_id, trial))

        transport.write(place / exercise.id, observe_exercise(exercise, loaded, seed, device, limits, note_trial))
    note(FINISHED)
    os._exit(0)  # threads a submission left behind are not waited for


def _settle_in(device: str, limits: Limits) -> None:
    """One thread, bounded memory, nothing to read from, nowhere to print to; helper files beside the submission in reach."""
    torch.set_num_threads(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    sys.argv = ["submission"]
    sys.path.append(os.getcwd())  # last, so that a file called torch.py hides nothing
    if device == "cpu" and sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (limits.memory, limits.memory))


def _noter(place: Path) -> Callable[[Progress], None]:
    """Note what comes next; a copy of this process, made by a submission with fork, ends here instead of going on."""
    process = os.getpid()

    def note(what: Progress) -> None:
        if os.getpid() != process:
            os._exit(0)
        transport.write_bytes(place / PROGRESS, json.dumps(what).encode())

    return note


if __name__ == "__main__":
    main()
