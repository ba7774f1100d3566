"""Gradients of a model that drops values at random: those of losses that the function itself computed?"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn

from autograder.contract.observation import Observation
from autograder.exercises.unit_01_batches_and_gradients.observing import BatchTrial, dropped
from gradaccum.fingerprint import LINEAR, batch_gradient
from gradaccum.problems import joined

NOT_OF_A_PASS = "It is not the gradient of losses that your function computed, with every sample taken once."


class _KnownGate(nn.Module):
    """Drops values by numbers that are known."""

    def __init__(self, numbers: Tensor) -> None:
        super().__init__()
        self.numbers = numbers

    def forward(self, x: Tensor) -> Tensor:
        return dropped(x, self.numbers)


def drawn_message(trial: BatchTrial, seen: Observation, vector: Tensor) -> str:
    """What is wrong with a vector ``(P,)`` that should be the gradient at numbers that were drawn; empty if nothing is.

    For every sample it has to be at the numbers of one pass, where passes went through the samples in order, or backward, or
    each of them once in any order.
    """
    if "drawn" not in seen.tensors:
        return ""
    numbers, n = seen.tensors["drawn"], trial.samples
    passes = [numbers[start : start + n] for start in range(len(numbers) - n + 1)]
    if len(numbers) % n == 0:  # samples one after the other, each several times
        passes += [numbers[k :: len(numbers) // n] for k in range(len(numbers) // n)]
    passes += [rows.flip(0) for rows in passes]
    if any(_is_close(_gradient(trial, rows), vector) for rows in passes):
        return ""
    if len(numbers) == n and _in_any_order(trial, numbers, vector):
        return ""
    return NOT_OF_A_PASS


def _gradient(trial: BatchTrial, numbers: Tensor) -> Tensor:
    """``(P,)``, with a row of numbers for every sample."""
    model, samples = trial.exact()
    model.gate = _KnownGate(numbers)
    return batch_gradient(model, trial.loss_fn, joined(samples))


def _in_any_order(trial: BatchTrial, numbers: Tensor, vector: Tensor) -> bool:
    """Whether the rows belong to the samples in some order."""
    model, samples = trial.exact()
    gradients = []
    for row, sample in itertools.product(numbers, samples):
        model.gate = _KnownGate(row[None])
        gradients.append(batch_gradient(model, trial.loss_fn, sample))
    of_rows = torch.stack(gradients).view(len(numbers), len(samples), -1)
    orders = torch.tensor(list(itertools.permutations(range(len(samples)))))
    means = of_rows[torch.arange(len(numbers)), orders].mean(1)
    return bool(((means - vector).norm(dim=1) <= LINEAR * vector.norm()).any())


def _is_close(one: Tensor, other: Tensor) -> bool:
    return bool(torch.dist(one, other) <= LINEAR * one.norm())
