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


def vector_in_words(trial: BatchTrial, vector: Tensor) -> str:
    """How this vector ``(P,)`` follows from the batch, as a sentence; empty if in no known way."""
    problem = trial.problem.with_(device="cpu")
    model, batches = problem.build_model().train(trial.training), problem.batches()

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
    if _same(vector, mean + decay * weights):
        return f"It is the mean gradient plus {decay:.3g} times the parameters, as weight decay adds them."
    pieces = zip(*(one.split([p.numel() for p in trainable(model)]) for one in (vector, mean)), strict=True)
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    present = {name: (bool(piece.any()), _same(piece, due)) for name, (piece, due) in zip(names, pieces, strict=True)}
    if any(some for some, _ in present.values()) and all(right or not some for some, right in present.values()):
        missing = ", ".join(name for name, (_, right) in present.items() if not right)
        return f"It is zero for {missing}, and right for the other parameters."
    sizes = vector[mean != 0].abs()
    if len(sizes) > 2 and float(sizes.max() - sizes.min()) < 0.1 * float(sizes.max()):
        return "All its numbers have nearly the same size, as with Adam, although those of the mean gradient differ."
    off = float((vector - mean).norm() / mean.norm())
    return f"It is close to the mean gradient, but not the same: it differs by {off:.1g} of it." if off < CLOSE_BY else ""


def _same(one: Tensor, other: Tensor) -> bool:
    return bool((one - other).norm() <= 10 * LINEAR * other.norm().clamp_min(1e-12))


def clipped_in_words(share: float, due: float, vector: Tensor) -> str:
    """That a vector with too small a share of each sample is clipped; empty if its length is not a round number."""
    length = float(vector.norm())
    limit = next((limit for limit in ROUND if abs(length - limit) < 1e-5 * limit), None)
    return f" Its length is exactly {limit:g}: it is clipped." if limit and 0 < share < due else ""
