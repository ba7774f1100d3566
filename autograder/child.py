"""Have a submission observed in a process of its own, and live through whatever becomes of that process.

A process that ends early, or hangs, costs the exercise it was observing, or the statement it was running. Another one takes
up the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder import observing, transport
from autograder.exercise import Exercise, Failure, Observation
from autograder.running import Limits
from autograder.student_code import PATIENCE
from autograder.submissions import Submission

Observed = dict[str, Observation] | Failure
"""What a function brought back on each trial, or why there is nothing at all."""

START_UP = 180.0
"""Seconds in which a process has to have imported torch, on a cold and busy machine."""

MOST_SKIPPED = 5
"""Statements that may end a process, each in turn, before the submission counts as one that cannot be run."""


class ChildError(RuntimeError):
    """The process did not even start. No submission's fault."""


@dataclass(frozen=True)
class Ending:
    """How a process ended: what it was about to do (see :mod:`autograder.observing`), and why it stopped."""

    last: observing.Progress
    failure: Failure

    @property
    def exercise(self) -> str | None:
        return self.last[0] if isinstance(self.last, tuple) else None


def observe_in_child(
    submission: Submission, exercises: Sequence[Exercise], seed: int, device: str, limits: Limits
) -> dict[str, Observed]:
    """What each exercise's function brings back, by exercise id.

    Raises:
        ChildError: the process cannot be started.
    """
    results: dict[str, Observed] = {}
    skip: list[int] = []
    pending = list(exercises)
    for _ in range(2 * len(exercises) + MOST_SKIPPED):
        ending = _one_process(submission, pending, seed, device, limits, skip, results)
        first, pending = pending[0], [exercise for exercise in pending if exercise.id not in results]
        if not pending:
            return results
        if isinstance(ending.last, int):
            skip.append(ending.last)
        elif ending.exercise == first.id:
            results[first.id] = ending.failure
            pending.remove(first)
        else:
            # What ran before may be to blame: an exercise that a process ended in is the first of the next one.
            pending.sort(key=lambda exercise: exercise.id != ending.exercise)
        if not pending:
            return results
        if isinstance(ending.last, str) or len(skip) > MOST_SKIPPED:
            break
    return results | dict.fromkeys((exercise.id for exercise in pending), ending.failure)


def _one_process(
    submission: Submission,
    exercises: Sequence[Exercise],
    seed: int,
    device: str,
    limits: Limits,
    skip: Sequence[int],
    results: dict[str, Observed],
) -> Ending:
    """Run one process to its end and add what it brought back to ``results``."""
    trials = {exercise.id: list(exercise.trials(seed, device)) for exercise in exercises}
    with tempfile.TemporaryDirectory(prefix="gradaccum-", ignore_cleanup_errors=True) as place:
        log = Path(place, "log")
        told = observing.request(submission.cells, list(trials), seed, device, limits, skip)
        with log.open("wb") as stderr, _started(Path(place), submission.path, stderr) as process:
            with contextlib.suppress(OSError):  # it may have died already
                process.stdin.write(told)
                process.stdin.close()
            ending = _watch(process, Path(place), limits, trials)
        if ending is None:
            raise ChildError("the marking process did not start: " + log.read_text(errors="replace")[-2000:].strip())
        for name, names in trials.items():
            if os.path.lexists(Path(place, name)):
                try:
                    results[name] = transport.read(Path(place, name), names)
                except transport.TransportError:
                    results[name] = Failure("died", "What your code brought back cannot be read.")
    return ending


@contextlib.contextmanager
def _started(place: Path, submission: Path, stderr) -> Iterator[subprocess.Popen]:
    """The process, in a session of its own; at the end it is killed with all it may have started."""
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {"PYTHONPATH": path, "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.observing", str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        cwd=submission.absolute().parent,
        env=os.environ | settings,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        process.wait()
        with contextlib.suppress(OSError):
            process.stdin.close()


def _watch(process: subprocess.Popen, place: Path, limits: Limits, trials: dict[str, list[str]]) -> Ending | None:
    """Wait for the end, or for a limit to be exceeded; None if the process never began with the submission."""
    work = limits.load + limits.statement + limits.trial * sum(map(len, trials.values()))
    last, began = None, time.monotonic()
    end = began + START_UP + PATIENCE * work  # of a process that only pretends to get on
    while True:
        try:
            code = process.wait(0.05)
        except subprocess.TimeoutExpired:
            code = None
        noted = _progress(place, trials)
        if noted != last:
            last, began = noted, time.monotonic()
        failure = Failure("died", _how_it_ended(code)) if code is not None else None
        seconds = limits.trial if isinstance(last, tuple) else limits.statement
        patience = START_UP if last is None else PATIENCE * seconds + limits.grace
        if time.monotonic() > min(began + patience, end):
            message = f"Your code was still running after {patience:.0f} seconds. Does one of its loops never end?"
            failure = failure or Failure("time", message)
        if failure:
            return None if last is None else Ending(last, failure)


def _progress(place: Path, trials: dict[str, list[str]]) -> observing.Progress | None:
    """What the process noted last, None if that is nothing or nonsense."""
    try:
        noted = json.loads(transport.read_bytes(place / observing.PROGRESS, 1000))
    except (ValueError, RecursionError):
        return None
    if type(noted) is int or noted in (observing.READY, observing.FINISHED):
        return noted
    known = ((exercise, name) for exercise, names in trials.items() for name in names)
    return next((pair for pair in known if list(pair) == noted), None)


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"Your code ended the process that ran it (exit status {code})."
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    name += ", as happens when memory runs out" if name == "SIGKILL" else ""
    return f"Your code ended the process that ran it ({name})."
