"""What the functions of unit 12 are run on, and what is recorded of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.observing.calls import observe_call
from autograder.observing.forks import observe_in_fork
from autograder.observing.loops import plain_losses
from gradaccum.capstone.config import Config
from gradaccum.capstone.run import History, Run
from gradaccum.loops import windows
from gradaccum.problems import flat_parameters, trainable
from gradaccum.recording import LiveBytes

MAX_UPDATES = 200
"""Updates after which weights are no longer kept; right runs make a dozen."""

LISTS = ("losses", "norms", "rates", "tokens")
"""The lists of a history."""


@dataclass(frozen=True)
class WindowTrial:
    """A run that is trained window by window.

    Attributes:
        config: what to train.
        stale: whether ``.grad`` holds something before the first window.
    """

    config: Config
    stale: bool = False


@dataclass(frozen=True)
class RunTrial:
    """A whole run.

    Attributes:
        config: what to train.
        meter: whether live bytes are counted.
        stop_after: stop after so many updates, then go on; None if the run does not stop.
        then_norm, then_stop: the clipping threshold with which to go on, and after how many updates of the whole run to stop
            again, if at all.
        last_norm: the clipping threshold with which to go on from a second stop.
    """

    config: Config
    meter: bool = False
    stop_after: int | None = None
    then_norm: float = 1.0
    then_stop: int | None = None
    last_norm: float = 1.0

    @property
    def stops(self) -> list[int]:
        """After how many updates of the whole run it stops."""
        return [stop for stop in (self.stop_after, self.then_stop) if stop is not None]

    def norm_at(self, update: int) -> float:
        """The threshold for an update, counted from 0, of the whole run."""
        if self.stop_after is None or update < self.stop_after:
            return self.config.max_norm
        return self.then_norm if self.then_stop is None or update < self.then_stop else self.last_norm


def observe_windows(function: Callable, trial: WindowTrial) -> Observation:
    """Call ``function(run, window, max_norm)`` for every window; return the weights after each, and the history."""
    run = trial.config.build()
    if trial.stale:
        for parameter in trainable(run.model):
            parameter.grad = torch.ones_like(parameter)
    rows: list[Tensor] = []
    steps: list[None] = []
    run.optimizer.register_step_post_hook(lambda *_: steps.append(None))
    for epoch in range(trial.config.epochs):
        for window in windows(trial.config.micro_batches(epoch), trial.config.accumulation_steps):
            function(run, window, trial.config.max_norm)
            rows.append(flat_parameters(run.model).cpu())
    facts = {
        "history": _lists(run.history),
        "training": all(part.training for part in run.model.modules()),
        "steps": len(steps),
    }
    return Observation({"rows": torch.stack(rows), "final": rows[-1]}, facts)


Observer = Callable[[Callable, Config], Observation]


def observe_run(function: Callable, trial: RunTrial) -> Observation:
    """Train, with or without stops; return the weights after every update, and the history. Each stop ends a process."""
    return observe_calls(function, trial, lambda train, config: observe_in_fork(partial(observe_one_call, train, config)))


def observe_calls(function: Callable, trial: RunTrial, stopping: Observer | None = None) -> Observation:
    """The same, where ``stopping`` observes one call of a run that stops and goes on; by default in this process."""
    if trial.stop_after is None:
        if not trial.meter:
            return observe_one_call(function, trial.config)
        with LiveBytes() as live:
            seen = observe_one_call(function, trial.config, live)
        return Observation(seen.tensors, seen.facts | {"peak_bytes": live.peak})
    with tempfile.TemporaryDirectory(prefix="gradaccum-") as folder:
        return _observe_stops(
            function,
            trial,
            stopping or observe_one_call,
            *(os.path.join(folder, f"{name}.pt") for name in ("first", "second", "third")),
        )


def _observe_stops(function: Callable, trial: RunTrial, observe: Observer, first: str, second: str, third: str) -> Observation:
    """Stop and go on, perhaps twice; return what the second call did, and the weights with which the other calls ended.

    ``steps`` lists the updates that each call made.
    """
    stopped = observe(function, trial.config.with_(checkpoint=first, stop_after=trial.stop_after))
    written = _moved(first, second)
    going_on = trial.config.with_(checkpoint=second, max_norm=trial.then_norm, stop_after=trial.then_stop)
    calls = {"stopped": stopped, "": stopped if stopped.failure else observe(function, going_on)}
    if trial.then_stop is not None and not calls[""].failure:
        _moved(second, third)
        calls["last"] = observe(function, trial.config.with_(checkpoint=third, max_norm=trial.last_norm))
    if failed := next((call for call in calls.values() if call.failure), None):
        return failed
    steps = [call.facts["steps"] for call in calls.values()]
    seen = calls.pop("")
    ends = {name: other.tensors["final"] for name, other in calls.items() if "final" in other.tensors}
    facts = {"stopped": stopped.facts.get("history"), "written": written, "steps": steps}
    return Observation(seen.tensors | ends, seen.facts | facts)


def _moved(path: str, new: str) -> bool:
    """Move a file, as if to another machine, and return whether there was one."""
    if written := os.path.exists(path):
        os.replace(path, new)
    return written


def observe_one_call(function: Callable, config: Config, live: LiveBytes | None = None) -> Observation:
    """One call of ``function(config)``. What the marker keeps is not part of the run, and is not counted as its memory."""
    runs: list[Run] = []
    peaks: list[int] = []
    rows: dict[int, list[Tensor]] = {}
    unmetered = live.pause if live else nullcontext

    def watch(run: Run) -> None:
        kept = rows.setdefault(id(run), [])
        runs.append(run)

        def keep(*_: object) -> None:
            if len(kept) < MAX_UPDATES:
                with unmetered():
                    kept.append(flat_parameters(run.model).cpu())

        run.optimizer.register_step_post_hook(keep)
        if live:
            run.model.register_forward_pre_hook(lambda *_: peaks.append(live.peak) if not peaks else None)

    value = function(config.with_(watch=watch))
    steps = sum(map(len, rows.values()))
    facts = {"built": len(runs), "steps": steps, "type": type(value).__name__, "peak_before": peaks[0] if peaks else None}
    if isinstance(value, History):
        facts["history"] = _lists(value)
    if not runs:
        return Observation(facts=facts)
    run = next((run for run in runs if run.history is value), runs[-1])
    with unmetered():
        kept = rows[id(run)]
        tensors = {"final": flat_parameters(run.model).cpu()} | ({"rows": torch.stack(kept)} if kept else {})
    return Observation(tensors, facts)


def _lists(history: History) -> dict[str, list[float] | None]:
    return {name: plain_losses(getattr(history, name, None)) for name in LISTS}


OBSERVERS = {"pick_micro_batch_size": observe_call, "train_window": observe_windows, "train": observe_run}
