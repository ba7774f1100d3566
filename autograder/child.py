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

    last: str | int
    failure: Failure


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
        elif ending.last == first.id:
            results[first.id] = ending.failure
            pending.remove(first)
        else:
            # What ran before may be to blame: an exercise that a process ended in is the first of the next one.
            pending.sort(key=lambda exercise: exercise.id != ending.last)
        if not pending:
            return results
        if ending.last in (observing.READY, observing.FINISHED) or len(skip) > MOST_SKIPPED:
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
            ending = _watch(process, Path(place), limits, {name: len(names) for name, names in trials.items()})
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


def _watch(process: subprocess.Popen, place: Path, limits: Limits, trials: dict[str, int]) -> Ending | None:
    """Wait for the end, or for a limit to be exceeded; None if the process never began with the submission."""
    last, began, loading = None, time.monotonic(), None
    while True:
        try:
            code = process.wait(0.05)
        except subprocess.TimeoutExpired:
            code = None
        now = time.monotonic()
        if (noted := _progress(place, trials)) != last:
            last, began = noted, now
            loading = loading or now
        if code is not None:
            if last is None:
                return None
            return Ending(last, Failure("died", _how_it_ended(code)))
        if last is None:
            limit = START_UP
        elif isinstance(last, int) or last == observing.READY:
            limit = min(limits.statement, max(0.0, loading + limits.load - began))
        else:
            limit = trials.get(last, 0) * limits.trial
        if now - began > limit + limits.grace:
            if last is None:
                return None
            message = f"Your code was still running after {limit:.0f} seconds. Does one of its loops never end?"
            return Ending(last, Failure("time", message))


def _progress(place: Path, trials: dict[str, int]) -> str | int | None:
    """What the process noted last: a word of :mod:`autograder.observing`, a statement's number or an exercise."""
    try:
        noted = json.loads(transport.read_bytes(place / observing.PROGRESS, 100))
    except ValueError:
        return None
    if type(noted) is int or noted in (observing.READY, observing.FINISHED, *trials):
        return noted
    return None


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"Your code ended the process that ran it (exit status {code})."
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"Your code ended the process that ran it ({name})."
