"""What the functions of unit 12 are run on, and what is brought back from them and believed of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from autograder.exercise import Observation
from autograder.reported_losses import plain_losses
from gradaccum.capstone.budget import activation_bytes, ceiling
from gradaccum.capstone.config import Config
from gradaccum.capstone.loops import RIGHT, Way, joined, train, train_window
from gradaccum.capstone.run import History, Run
from gradaccum.loops import windows
from gradaccum.problems import flat_parameters, trainable
from gradaccum.recording import LiveBytes

MOST_UPDATES = 200
"""Updates after which weights are no longer kept; right runs make a dozen."""

TOLERANCE = 1e-4
"""Relative difference up to which two movements are the same. float64 leaves 1e-13, float32 1e-5, and torch's clipping divides
by the norm plus 1e-6, which others need not do. The smallest error of a mistake on these runs is above 1e-3."""

LISTS = ("losses", "norms", "rates", "tokens")


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
        stop_after: stop after so many updates, then go on; or do not stop.
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

    def norm_at(self, update: int) -> float:
        """The threshold for an update, counted from 0, of the whole run."""
        if self.stop_after is None or update < self.stop_after:
            return self.config.max_norm
        return self.then_norm if self.then_stop is None or update < self.then_stop else self.last_norm


def observe_windows(function: Callable, trial: WindowTrial) -> Observation:
    """Call ``function(run, window, max_norm)`` for every window; bring back the weights after each, and the history."""
    run = trial.config.build()
    if trial.stale:
        for parameter in trainable(run.model):
            parameter.grad = torch.ones_like(parameter)
    rows, steps = [], []
    run.optimizer.register_step_post_hook(lambda *_: steps.append(None))
    for epoch in range(trial.config.epochs):
        for window in windows(trial.config.micro_batches(epoch), trial.config.accumulation_steps):
            function(run, window, trial.config.max_norm)
            rows.append(flat_parameters(run.model).cpu())
    facts = {"history": _lists(run.history), "training": run.model.training, "steps": len(steps)}
    return Observation({"rows": torch.stack(rows), "final": rows[-1]}, facts)


def observe_run(function: Callable, trial: RunTrial) -> Observation:
    """Train, with or without stops; bring back the weights after every update, and the history."""
    if trial.stop_after is None:
        if not trial.meter:
            return _observe_call(function, trial.config)
        with LiveBytes() as live:
            seen = _observe_call(function, trial.config, live)
        return Observation(seen.tensors, seen.facts | {"peak_bytes": live.peak})
    with tempfile.TemporaryDirectory(prefix="gradaccum-") as folder:
        return _observe_stops(function, trial, *(os.path.join(folder, f"{name}.pt") for name in ("first", "second", "third")))


def _observe_stops(function: Callable, trial: RunTrial, first: str, second: str, third: str) -> Observation:
    """Stop and go on, perhaps twice; bring back what the second call did, and the weights with which the others ended."""
    stopped = _observe_call(function, trial.config.with_(checkpoint=first, stop_after=trial.stop_after))
    written = _moved(first, second)
    going_on = trial.config.with_(checkpoint=second, max_norm=trial.then_norm, stop_after=trial.then_stop)
    seen, others = _observe_call(function, going_on), {"stopped": stopped}
    if trial.then_stop is not None:
        _moved(second, third)
        others["last"] = _observe_call(function, trial.config.with_(checkpoint=third, max_norm=trial.last_norm))
    ends = {name: other.tensors["final"] for name, other in others.items() if "final" in other.tensors}
    return Observation(seen.tensors | ends, seen.facts | {"stopped": stopped.facts.get("history"), "written": written})


def _moved(path: str, new: str) -> bool:
    """Move a file, if it is there, as if to another machine, and say whether it was."""
    if written := os.path.exists(path):
        os.replace(path, new)
    return written


def _observe_call(function: Callable, config: Config, live: LiveBytes | None = None) -> Observation:
    """One call of ``function(config)``. What the marker keeps is no part of the run, and not counted."""
    runs: list[Run] = []
    peaks: list[int] = []
    rows: dict[int, list[Tensor]] = {}
    unmetered = live.pause if live else nullcontext

    def watch(run: Run) -> None:
        kept = rows.setdefault(id(run), [])
        runs.append(run)

        def keep(*_) -> None:
            if len(kept) < MOST_UPDATES:
                with unmetered():
                    kept.append(flat_parameters(run.model).cpu())

        run.optimizer.register_step_post_hook(keep)
        if live:
            run.model.register_forward_pre_hook(lambda *_: peaks.append(live.peak) if not peaks else None)

    value = function(config.with_(watch=watch))
    facts = {"built": len(runs), "type": type(value).__name__, "peak_before": peaks[0] if peaks else None}
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


def updates_after_every(trial: WindowTrial, seen: Observation) -> bool:
    """Whether there was an update for each micro-batch, and perhaps one more for each window."""
    micro_batches = sum(1 for epoch in range(trial.config.epochs) for _ in trial.config.micro_batches(epoch))
    return seen.facts.get("steps") in (micro_batches, micro_batches + trial.config.updates)


@lru_cache(maxsize=512)
def windows_due(trial: WindowTrial, way: Way = RIGHT) -> Observation:
    """What a loop that trains in this way brings back; without a way, one large batch for each window."""
    steps = trial.config.accumulation_steps
    return observe_windows(lambda run, window, norm: train_window(run, window, norm, way, steps), trial)


@lru_cache(maxsize=64)
def large_windows_due(trial: WindowTrial) -> Observation:
    """What large batches bring back."""
    return observe_windows(lambda run, window, norm: train_window(run, [joined(window)], norm), trial)


@lru_cache(maxsize=512)
def run_due(trial: RunTrial, way: Way = RIGHT) -> Observation:
    """What a run that goes about it in this way brings back."""
    return observe_run(lambda config: train(config, way), trial)


@lru_cache(maxsize=64)
def large_run_due(trial: RunTrial) -> Observation:
    """What a run with large batches brings back; one that would be stopped is not, but changes its threshold there."""

    def large(config: Config) -> History:
        run = config.build()
        for epoch in range(config.epochs):
            for window in windows(config.micro_batches(epoch), config.accumulation_steps):
                train_window(run, [joined(window)], trial.norm_at(run.history.updates))
        return run.history

    whole, stop = _observe_call(large, trial.config), trial.then_stop
    if stop is None:
        return whole
    rows, history = whole.tensors["rows"][:stop], {name: whole.facts["history"][name][:stop] for name in LISTS}
    return Observation({"rows": rows, "final": rows[-1], "last": whole.tensors["final"]}, whole.facts | {"history": history})


@lru_cache(maxsize=64)
def ceiling_of(config: Config) -> int:
    """Bytes that a run with this config may have alive at once."""
    return ceiling(config)


@lru_cache(maxsize=512)
def bytes_needed(config: Config, lines: int) -> int:
    """What the longest micro-batch of so many lines needs."""
    return activation_bytes(config.build_model(), *config.longest_micro_batch(lines))


def history_of(seen: Observation, name: str = "history") -> dict[str, list[float]] | None:
    """A history as it was brought back, if it is four lists of numbers of one length; nothing else is believed."""
    history = seen.facts.get(name)
    if not isinstance(history, dict) or any(not _is_numbers(history.get(key)) for key in LISTS):
        return None
    lists = {key: history[key] for key in LISTS}
    return lists if len({len(numbers) for numbers in lists.values()}) == 1 else None


def _is_numbers(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, int | float) and not isinstance(item, bool) for item in value)


def weights_like(seen: Observation, due: Observation, config: Config, name: str = "final") -> bool:
    """Whether weights are those due, up to rounding, measured against how far training has moved them."""
    return same_weights(seen.tensors.get(name), due.tensors[name], config)


def first_difference(seen: Observation, due: Observation, config: Config) -> int | None:
    """The first update, counted from 1, after which the weights are not those due; None if that cannot be said."""
    rows, wanted = seen.tensors.get("rows"), due.tensors["rows"]
    if rows is None or rows.dim() != 2 or rows.shape[1:] != wanted.shape[1:]:
        return None
    both = zip(rows, wanted, strict=False)
    return next((k for k, (row, right) in enumerate(both, 1) if not same_weights(row, right, config)), None)


def same_weights(found: Tensor | None, due: Tensor, config: Config) -> bool:
    """Whether found weights are those due, as :func:`weights_like` compares them."""
    if found is None or found.shape != due.shape or not found.is_floating_point():
        return False
    start = start_of(config).to(due)
    moved, way = found.to(due) - start, due - start
    return bool(torch.isfinite(moved).all()) and bool((moved - way).norm() <= TOLERANCE * way.norm())


def unmoved(seen: Observation, config: Config) -> bool:
    """Whether weights have come back, and are exactly those before training."""
    found, start = seen.tensors.get("final"), start_of(config)
    return found is not None and found.dtype == start.dtype and torch.equal(found, start)


@lru_cache(maxsize=64)
def start_of(config: Config) -> Tensor:
    """The weights before training."""
    return flat_parameters(config.build_model()).cpu()
