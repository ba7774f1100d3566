"""Words for a vector that should be the mean gradient of a batch but is no combination of its samples' gradients."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from autograder.diagnosing.update_words import ROUND
from autograder.exercises.unit_01_batches_and_gradients.observing import BatchTrial
from gradaccum.fingerprint import LINEAR, batch_gradient
from gradaccum.problems import MicroBatch, flat_parameters, trainable

CLOSE_BY = 0.05
"""Relative distance below which a wrong vector is called close to the right one."""


DIGITS = 0.01
"""Relative difference up to which a small term is recognised in a sum; an unrelated one differs by all of it."""


def vector_in_words(trial: BatchTrial, vector: Tensor) -> str:
    """How this vector ``(P,)`` follows from the batch, as a sentence; empty if in no known way."""
    model, batches = trial.exact()

    def rows_of(samples: Iterable[MicroBatch]) -> Tensor:
        return torch.stack([batch_gradient(model, trial.loss_fn, sample) for sample in samples])

    rows = rows_of(batches)
    mean, weights = rows.mean(0), flat_parameters(model).to(rows)
    vector = vector.to(mean)
    for words, other in {
        "It is the median of the samples' gradients, number by number, where their mean is due.": rows.median(0).values,
        "It is the largest of the samples' gradients, number by number, where their mean is due.": rows.max(0).values,
    }.items():
        if _same(vector, other):
            return words
    for shift in range(1, len(batches)):
        targets = batches[-shift:] + batches[:-shift]
        moved = rows_of((x, y) for (x, _), (_, y) in zip(batches, targets, strict=True))
        if _same(vector, moved.mean(0)) or _same(vector, moved.sum(0)):
            return "It is made of losses that compare each sample with the target of another one."
    weights = weights * (mean != 0)  # an unused parameter is decayed by some optimizers only
    decay = float((vector - mean) @ weights / weights.square().sum())
    if _same(vector, mean + decay * weights) and _same(vector - mean, decay * weights, DIGITS):
        return f"It is the mean gradient plus {decay:.3g} times the parameters, as weight decay adds them."
    sizes = vector[mean != 0].abs()
    if len(sizes) > 2 and float(sizes.max() - sizes.min()) < 0.1 * float(sizes.max()):
        return "All its numbers have nearly the same size, as with Adam, although those of the mean gradient differ."
    if (off := float((vector - mean).norm() / mean.norm())) < CLOSE_BY:
        return f"It is close to the mean gradient, but not the same: it differs by {off:.1g} of it."
    pieces = zip(*(one.split([p.numel() for p in trainable(model)]) for one in (vector, mean)), strict=True)
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    factors = {name: _factor(piece, due) for name, (piece, due) in zip(names, pieces, strict=True) if piece.any() or due.any()}
    return _by_parameter(factors)


def _factor(piece: Tensor, due: Tensor) -> float | None:
    """How many times what is due a parameter's piece of a vector is; None if it is no multiple of it."""
    factor = round(float(piece @ due / due.square().sum().clamp_min(1e-12)), 6)
    return factor if _same(piece, factor * due) else None


def _by_parameter(factors: dict[str, float | None]) -> str:
    """What is true of some parameters only, as a sentence; empty if nothing is."""
    names = {factor: ", ".join(name for name in factors if factors[name] == factor) for factor in factors.values()}
    right = names.pop(1, "")
    if None in names:
        return f"It is right for {right}, but not for the other parameters." if right else ""
    if not names or (len(names) == 1 and not right):
        return ""
    parts = [f"{f'{factor:g} times what is due' if factor else 'zero'} for {which}" for factor, which in names.items()]
    return f"It is {', '.join(parts)}{', and right for the other parameters' * bool(right)}."


def _same(one: Tensor, other: Tensor, tolerance: float = 10 * LINEAR) -> bool:
    return bool((one - other).norm() <= tolerance * other.norm().clamp_min(1e-12))


def clipped_one_by_one_in_words(trial: BatchTrial, shares: Tensor) -> str:
    """That every sample's gradient has its share of the mean except for those that are longer than a limit; empty if not so."""
    model, batches = trial.exact()
    lengths = torch.stack([batch_gradient(model, trial.loss_fn, sample).norm() for sample in batches])
    for limit in ROUND:
        due = (limit / lengths).clamp(max=1) / len(batches)
        if (lengths > limit).any() and bool(((shares - due).abs() < 1e-5 * due).all()):
            return f" Sample gradients longer than {limit:g} are shortened to that length before the average is taken."
    return ""


def clipped_in_words(share: float, due: float, vector: Tensor) -> str:
    """That a vector with too small a share of each sample is clipped; empty if its length is not a round number."""
    length = float(vector.norm())
    limit = next((limit for limit in ROUND if abs(length - limit) < 1e-5 * limit), None)
    return f" Its length is {limit:g}, as if it were clipped." if limit and 0 < share < due else ""
