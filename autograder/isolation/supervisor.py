"""Have a submission observed in a process of its own, and survive whatever happens to that process.

A process that ends early, or hangs, costs the exercise it was observing or the statement it was running. Another process then
observes the rest.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.contract.cell import Cell
from autograder.contract.observation import Failure, Observation
from autograder.isolation import wire, worker
from autograder.isolation.cell_reports import CellReport
from autograder.isolation.fork_server_client import ForkServer, Run
from autograder.isolation.fork_server_protocol import Ended
from autograder.isolation.limits import Limits
from autograder.isolation.namespaces import Bounds
from autograder.isolation.worker import CELL_REPORTS, OBSERVED, PROGRESS, REQUEST, Request
from autograder.observing.stages import Stage, StagedTrial, joined
from autograder.observing.student_calls import WALL_CLOCK_FACTOR

Observed = dict[str, Observation] | Failure
"""What a function did on each trial, or why nothing was observed."""

Trials = Mapping[str, Mapping[str, Any]]
"""The trials of each exercise, by exercise id and trial name."""


MAX_SKIPPED = 5
"""Statements that may each end a process before the submission counts as one that cannot be run."""

MAX_REPORT_BYTES = 4 * 2**20
"""Bytes in which a process may say what its cells printed, and as many for what it is about to do."""

MAX_PROGRESS_BYTES = 1000
"""Bytes in which a process may say once what it is about to do."""

OVER = {
    "memory": "Your code used more memory than the {memory:.0f} GB it may.",
    "processes": "Your code started more than {processes} processes at a time.",
}


@dataclass
class Observations:
    """All that was observed of a submission: what its functions did, by exercise id, and how running each cell went."""

    observed: dict[str, Observed] = field(default_factory=dict)
    reports: list[CellReport] = field(default_factory=list)


@dataclass(frozen=True)
class Ending:
    """How a process ended.

    Attributes:
        last: what it was about to do, see :mod:`autograder.isolation.worker`.
        failure: why it stopped.
        killed: whether something else than a limit of ours killed it, perhaps the kernel for want of memory, or an operator.
    """

    last: worker.Progress
    failure: Failure
    killed: bool = False

    @property
    def exercise(self) -> str | None:
        return self.last[0] if isinstance(self.last, tuple) else None


def observe_in_fork(
    fork_server: ForkServer,
    cells: Sequence[Cell],
    unit: str,
    trials: Trials,
    device: str,
    limits: Limits,
    folder: Path,
) -> Observations:
    """Observe what each exercise's function does.

    Trials with several stages are observed in two processes: the second gets the files that the first stage left in the first.
    A process that is killed without a limit of ours, or whose fork server is, is tried again before it costs anything: what
    killed it may have nothing to do with the submission.

    Args:
        fork_server: what forks the process.
        cells: the submission's code.
        unit, trials, device: what to observe, and where.
        limits: of what the submission may use.
        folder: where it runs if there is no sandbox.

    Raises:
        ChildError: no process can be started.
    """
    end = time.monotonic() + WALL_CLOCK_FACTOR * limits.whole

    def observe(trials: Trials) -> Observations:
        return _observe(fork_server, Request(cells, unit, trials, device, limits), folder, end)

    found = observe(first := _first_stages(trials))
    if second := _second_stages(first, found.observed):
        for exercise, seen in observe(second).observed.items():
            found.observed[exercise] = _joined(found.observed[exercise], seen)
    return found


def _observe(fork_server: ForkServer, asked: Request, folder: Path, end: float) -> Observations:
    """Observe trials, or stages of them, in one process of the submission or, where that ends, in several."""
    found, trials = Observations(), asked.trials
    results, pending = found.observed, list(trials)
    skip: list[int] = []
    tried_again: set[worker.Progress] = set()
    for _ in range(2 * (2 * len(trials) + MAX_SKIPPED)):
        request = replace(asked, trials={exercise: trials[exercise] for exercise in pending}, skip=tuple(skip))
        ending = _one_process(fork_server, request, folder, end, found)
        first, pending = pending[0], [exercise for exercise in pending if exercise not in results]
        if not pending:
            return found
        blamed = ending.exercise or ending.last
        if ending.killed and blamed not in tried_again and time.monotonic() < end:
            tried_again.add(blamed)
            continue
        if isinstance(ending.last, int):
            skip.append(ending.last)
        elif ending.exercise == first and first in pending:
            results[first] = ending.failure
            pending.remove(first)
        else:
            # An exercise observed before it may be to blame: the next process begins with the one that this process ended in.
            pending.sort(key=lambda exercise: exercise != ending.exercise)
        if not pending:
            return found
        if isinstance(ending.last, str) or len(skip) > MAX_SKIPPED or time.monotonic() > end:
            break
    results |= dict.fromkeys(pending, ending.failure)
    return found


def _first_stages(trials: Trials) -> Trials:
    """The trials, or the first stages of those that may have several."""

    def first(trial: Any) -> Any:
        return Stage(trial) if isinstance(trial, StagedTrial) else trial

    return {exercise: {name: first(trial) for name, trial in those.items()} for exercise, those in trials.items()}


def _second_stages(first: Trials, observed: Mapping[str, Observed]) -> Trials:
    """The stages after these, of which this was observed."""
    second: dict[str, dict[str, Stage]] = {}
    for exercise, those in first.items():
        seen = observed[exercise]
        if not isinstance(seen, Failure):
            after = {name: stage.after(seen[name]) for name, stage in those.items() if isinstance(stage, Stage)}
            second[exercise] = {name: stage for name, stage in after.items() if stage}
    return {exercise: those for exercise, those in second.items() if those}


def _joined(earlier: Observed, later: Observed) -> Observed:
    """What was observed of an exercise in a second process, and in the first one."""
    if isinstance(earlier, Failure) or isinstance(later, Failure):
        return later
    return earlier | {name: joined(earlier[name], seen) for name, seen in later.items()}


def _one_process(fork_server: ForkServer, request: Request, folder: Path, end: float, found: Observations) -> Ending:
    """Run one process to its end and add what it observed to ``found``."""
    limits = request.limits
    bounds = Bounds(limits.memory if request.device == "cpu" else 0, limits.processes, limits.disk)
    trials = {exercise: list(those) for exercise, those in request.trials.items()}
    with fork_server.run(bounds, folder) as run:
        try:
            wire.send(run.channel, REQUEST, request.encode())
        except OSError:
            pass  # it has died already
        return _watch(run, limits, trials, min(end, time.monotonic() + WALL_CLOCK_FACTOR * _work(limits, trials)), found)


def _work(limits: Limits, trials: dict[str, list[str]]) -> float:
    """Seconds of work after which a process is ended, even if it claims to make progress."""
    return limits.load + limits.statement + limits.trial * sum(map(len, trials.values()))


def _watch(run: Run, limits: Limits, trials: dict[str, list[str]], end: float, found: Observations) -> Ending:
    """Receive what arrives until the process ends, on its own or because it exceeds a limit."""
    max_bytes = {
        PROGRESS: MAX_PROGRESS_BYTES,
        CELL_REPORTS: MAX_REPORT_BYTES,
        OBSERVED: max(map(wire.max_encoded_bytes, trials.values())) + 256,
    }
    max_total = 2 * MAX_REPORT_BYTES + sum(map(wire.max_encoded_bytes, trials.values()))
    frames = wire.Frames(run.channel, max_bytes, max_total)
    last: worker.Progress = worker.READY
    began, done = time.monotonic(), False
    while True:
        had_ended = run.ended
        try:
            if arrived := run.wait(0.05):
                for kind, payload in frames.arrived():
                    if kind == PROGRESS:
                        noted, began = _progress(payload, trials), time.monotonic()
                        last, done = _later(last, noted), done or noted == worker.FINISHED
                    elif kind == CELL_REPORTS:
                        found.reports = CellReport.decode(payload)
                    else:
                        _take(payload, trials, last, found.observed)
        except EOFError:
            return _ending(last, run.ended_within(2.0) or run.stop(), limits)
        except wire.TransportError:
            return Ending(last, Failure("died", "What your code sent back cannot be read."))
        if done:
            return Ending(last, Failure("died", "Your code sent back less than it was asked for."))
        if had_ended and not arrived:
            return _ending(last, had_ended, limits)
        patience = WALL_CLOCK_FACTOR * (limits.trial if isinstance(last, tuple) else limits.statement) + limits.grace
        if time.monotonic() > min(began + patience, end):
            seconds = min(patience, limits.whole)
            message = (
                f"Your code was still running after {seconds:.0f} seconds. "
                "Does a loop never end, or does it do far more than needed?"
            )
            return Ending(last, Failure("time", message))


def _take(payload: bytes, trials: dict[str, list[str]], last: worker.Progress, observed: dict[str, Observed]) -> None:
    """Add the observations of an exercise; unreadable ones count as a failure of that exercise alone.

    Observations of an exercise that is not being observed are stale or forged, and are ignored.
    """
    length = payload[0] if payload else 0
    name = payload[1 : 1 + length].decode("ascii", "replace")
    if name not in trials:
        raise wire.TransportError("observations of nothing that was asked for")
    if not isinstance(last, tuple) or last[0] != name:
        return
    try:
        observed[name] = wire.decode(payload[1 + length :], trials[name])
    except wire.TransportError:
        observed[name] = Failure("died", "What your code sent back cannot be read.")


def _progress(payload: bytes, trials: Mapping[str, Collection[str]]) -> worker.Progress | None:
    """What the process says it is about to do, None if that makes no sense."""
    try:
        noted = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if type(noted) is int or noted in (worker.READY, worker.LOADED, worker.FINISHED):
        return noted
    known = ((exercise, name) for exercise, names in trials.items() for name in names)
    return next((pair for pair in known if list(pair) == noted), None)


def _later(last: worker.Progress, noted: worker.Progress | None) -> worker.Progress:
    """What to blame if the process ends now. It goes from statements to exercises; a report that says otherwise is forged."""
    if noted is None or isinstance(noted, str) or (isinstance(noted, int) and isinstance(last, tuple)):
        return last
    return noted


def _ending(last: worker.Progress, ended: Ended, limits: Limits) -> Ending:
    if said := OVER.get(ended.over):
        return Ending(last, Failure("died", said.format(memory=limits.memory / 2**30, processes=limits.processes)))
    return Ending(last, Failure("died", _how_it_ended(ended.code)), killed=ended.code == -signal.SIGKILL)


def _how_it_ended(code: int | None) -> str:
    if code is None:
        return "Your code closed the connection over which it is marked."
    if code >= 0:
        return f"Your code crashed the process it ran in (exit status {code})."
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    name += ", as happens when memory runs out" if name == "SIGKILL" else ""
    return f"Your code crashed the process it ran in ({name})."
