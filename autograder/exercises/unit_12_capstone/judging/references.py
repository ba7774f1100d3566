"""What is due of the functions of unit 12, and how much of what was observed is believed."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.exercises.unit_12_capstone.observing import (
    LISTS,
    RunTrial,
    WindowTrial,
    observe_here,
    observe_one_call,
    observe_windows,
)
from gradaccum.capstone.budget import activation_bytes, ceiling
from gradaccum.capstone.config import Config
from gradaccum.capstone.run import History
from gradaccum.capstone.variants import RIGHT, RunVariant, joined, train, train_window
from gradaccum.loops import windows
from gradaccum.problems import flat_parameters

TOLERANCE = 1e-4
"""Relative difference up to which two movements are the same. float64 leaves 1e-13, float32 1e-5, and torch's clipping divides
by the norm plus 1e-6, which other ways to clip need not do. The smallest error of a mistake on these runs is above 1e-3."""


def updates_after_every(trial: WindowTrial, seen: Observation) -> bool:
    """Whether there was an update for each micro-batch, each after a forward pass, and perhaps one more for each window."""
    micro_batches = sum(1 for epoch in range(trial.config.epochs) for _ in trial.config.micro_batches(epoch))
    steps = seen.facts.get("steps") in (micro_batches, micro_batches + trial.config.updates)
    return steps and seen.facts["stepped_after_passes"] == micro_batches


@lru_cache(maxsize=512)
def windows_due(trial: WindowTrial, variant: RunVariant = RIGHT) -> Observation:
    """What is observed of a loop that trains in this way; by default of a right one."""
    steps = trial.config.accumulation_steps
    return observe_windows(lambda run, window, norm: train_window(run, window, norm, variant, steps), trial)


@lru_cache(maxsize=64)
def large_windows_due(trial: WindowTrial) -> Observation:
    """What is observed of one large batch for each window."""
    return observe_windows(lambda run, window, norm: train_window(run, [joined(window)], norm), trial)


@lru_cache(maxsize=512)
def run_due(trial: RunTrial, variant: RunVariant = RIGHT) -> Observation:
    """What is observed of a run that trains in this way; by default of a right one."""
    return observe_here(lambda config: train(config, variant), trial)


@lru_cache(maxsize=64)
def large_run_due(trial: RunTrial) -> Observation:
    """What is observed of a run with large batches. Where it would be stopped it goes on, but changes its threshold there."""

    def large(config: Config) -> History:
        run = config.build()
        for epoch in range(config.epochs):
            for window in windows(config.micro_batches(epoch), config.accumulation_steps):
                train_window(run, [joined(window)], trial.norm_at(run.history.updates))
        return run.history

    whole, stop = observe_one_call(large, trial.config), trial.then_stop
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
    """Bytes that the longest micro-batch of so many lines needs."""
    return activation_bytes(config.build_model(), *config.longest_micro_batch(lines))


def history_of(seen: Observation, name: str = "history") -> dict[str, list[float]] | None:
    """The observed history, if it is four lists of numbers of one length; None if it is anything else."""
    history = seen.facts.get(name)
    if not isinstance(history, dict) or any(not _is_numbers(history.get(key)) for key in LISTS):
        return None
    lists = {key: history[key] for key in LISTS}
    return lists if len({len(numbers) for numbers in lists.values()}) == 1 else None


def history_due(due: Observation) -> dict[str, list[float]]:
    """The history of a reference that we ran ourselves."""
    history = history_of(due)
    assert history is not None
    return history


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
    moved, wanted = found.to(due) - start, due - start
    return bool(torch.isfinite(moved).all()) and bool((moved - wanted).norm() <= TOLERANCE * wanted.norm())


NEARLY = 0.01
"""Share of a movement that may be wrong in weights that are nearly those due. Numbers of 16 bits leave less than that."""


def nearly_like(seen: Observation, due: Observation, config: Config) -> bool:
    """Whether weights are those due but for a small share of how far training has moved them."""
    found, wanted, start = seen.tensors.get("final"), due.tensors["final"], start_of(config)
    if found is None or found.shape != wanted.shape or not found.is_floating_point():
        return False
    off = (found.to(wanted) - wanted).norm() / (wanted - start.to(wanted)).norm()
    return TOLERANCE < float(off) < NEARLY


def unmoved(seen: Observation, config: Config) -> bool:
    """Whether weights were observed and are exactly those before training."""
    found, start = seen.tensors.get("final"), start_of(config)
    return found is not None and found.dtype == start.dtype and torch.equal(found, start)


EXACT = 1e-9
"""The same in float64 where nothing is clipped and plain SGD makes the updates: sums in another order leave 1e-13, numbers that
were kept in float32 more than 1e-8."""


def digits_kept(seen: Observation, due: Observation, config: Config, name: str = "final") -> bool:
    """Whether weights that are those due are so to all digits of the model, where that can be seen."""
    found, wanted, start = seen.tensors.get(name), due.tensors[name], start_of(config)
    if found is None or config.dtype != "float64" or config.optimizer != "sgd":
        return True
    return bool((found.to(wanted) - wanted).norm() <= EXACT * (wanted - start.to(wanted)).norm())


@lru_cache(maxsize=64)
def start_of(config: Config) -> Tensor:
    """The weights before training."""
    return flat_parameters(config.build_model()).cpu()
