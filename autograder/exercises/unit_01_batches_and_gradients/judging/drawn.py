"""Gradients of a model that drops values at random: those of losses that the function itself computed?"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from autograder.contract.observation import Observation
from autograder.exercises.unit_01_batches_and_gradients.observing import BatchTrial, dropped
from gradaccum.fingerprint import LINEAR, batch_gradient
from gradaccum.problems import joined, trainable

OF_NO_PASSES = (
    "Take one of your forward passes for each sample, whichever you like: it is not the gradient of the mean of their losses."
)
OF_SEVERAL_LOSSES = (
    "The gradients of different parameters are those of different forward passes, in which the model drops different values. "
    "Take all of them from the same loss."
)


class _KnownGate(nn.Module):
    """Drops values by numbers that are known, and keeps the values it was given last."""

    def __init__(self, numbers: Tensor) -> None:
        super().__init__()
        self.numbers = numbers

    def forward(self, x: Tensor) -> Tensor:
        self.values = x.detach()
        return dropped(x, self.numbers)


def drawn_message(trial: BatchTrial, seen: Observation, vector: Tensor) -> str:
    """What is wrong with a vector ``(P,)`` that should be the gradient at numbers that were drawn; empty if nothing is.

    For every sample it has to be at the numbers of a forward pass, whichever that was.
    """
    if not {"drawn", "dropped from"} <= seen.tensors.keys():
        return ""
    of_samples = _gradients(trial, seen.tensors["drawn"], seen.tensors["dropped from"])
    if not all(map(len, of_samples)):
        return OF_NO_PASSES
    if _is_mean(vector, of_samples):
        return ""
    sizes = [p.numel() for p in trainable(trial.exact()[0])]
    pieces = zip(vector.split(sizes), zip(*(rows.split(sizes, 1) for rows in of_samples), strict=True), strict=True)
    return OF_SEVERAL_LOSSES if all(_is_mean(piece, of_piece) for piece, of_piece in pieces) else OF_NO_PASSES


def _gradients(trial: BatchTrial, numbers: Tensor, values: Tensor) -> list[Tensor]:
    """For each sample its gradients ``(passes, P)``, one for each row of numbers that was drawn for its values."""
    model, samples = trial.exact()
    model.gate = gate = _KnownGate(numbers[:1])
    model(joined(samples)[0])
    owners = torch.cdist(values.double(), gate.values).argmin(1).tolist()
    gradients: list[list[Tensor]] = [[] for _ in samples]
    for row, owner in zip(numbers, owners, strict=True):
        gate.numbers = row[None]
        gradients[owner].append(batch_gradient(model, trial.loss_fn, samples[owner]))
    return [torch.stack(rows) if rows else torch.empty(0) for rows in gradients]


def _is_mean(vector: Tensor, of_samples: Sequence[Tensor]) -> bool:
    """Whether a vector is the mean of one gradient of each sample, by all sums of the first samples and of the others."""
    half = (len(of_samples) + 1) // 2
    first, others = _sums(vector, of_samples[:half]), _sums(vector, of_samples[half:])
    due = vector.to(first) * len(of_samples)
    off = torch.cdist(first, due - others, compute_mode="donot_use_mm_for_euclid_dist")
    return bool(off.min() <= LINEAR * due.norm())


def _sums(vector: Tensor, of_samples: Sequence[Tensor]) -> Tensor:
    """All sums of one row of each, ``(sums, P)``."""
    sums = torch.zeros(1, len(vector), dtype=torch.float64)
    for rows in of_samples:
        sums = (sums[:, None] + rows).flatten(0, 1)
    return sums
