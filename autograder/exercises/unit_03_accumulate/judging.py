"""What is wrong with an accumulated gradient, and what comes of wrong formulas for a rate or an update."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.judging.calls import Formula, with_fixed, with_rounding
from autograder.judging.large_batches import JOINED, is_cut_finely, is_one_forward
from autograder.judging.left_behind import kept_message
from autograder.judging.tolerances import close
from autograder.observing.loops import LoopTrial
from gradaccum.fingerprint import batch_gradient
from gradaccum.problems import Problem, flat_parameters, joined

TOGETHER = 11
"""Micro-batches that may go through the model together: with more of them, peak memory reaches the limit of twelve."""


def gradient_message(trial: LoopTrial, seen: Observation) -> str:
    """What is wrong with what a function left in ``.grad``, or did to the model; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    problem = trial.problem
    before = flat_parameters(problem.build_model()).cpu()
    after, gradients = seen.tensors["parameters"].to(before), seen.tensors["gradients"].cpu()
    if not all(close(row, before, problem.dtype) for row in after):
        return "Your function changed the parameters; it should only fill .grad."
    if kept := kept_message(seen):
        return kept
    if problem.coupled and is_one_forward(problem, gradients[0]):
        return JOINED
    if not (
        is_cut_finely(problem, gradients[0], together=TOGETHER) if problem.coupled else _are_mean_gradients(problem, gradients)
    ):
        return "What is in .grad is not the gradient of the mean loss over all samples."
    return ""


def _are_mean_gradients(problem: Problem, gradients: Tensor) -> bool:
    model = problem.build_model()
    calls = [joined(problem.batches(epoch)) for epoch in range(len(problem.epochs))]
    due = torch.stack([batch_gradient(model, problem.loss_fn, batch) for batch in calls]).cpu()
    return len(gradients) == len(due) and all(map(close, gradients.to(due), due, [problem.dtype] * len(due)))


def same_samples(config_a: tuple[int, int], config_b: tuple[int, int]) -> bool:
    """Whether two configurations ``(B, N)`` average over equally many samples."""
    return config_a[0] * config_a[1] == config_b[0] * config_b[1]


RATE = 1e-6
"""Relative difference up to which a rate is right: a tensor may be in float32, which leaves 6e-8."""


def _sum_form_rate(lr: float, steps: int) -> float:
    return lr / steps


WRONG_RATES: dict[str, Formula | tuple[Formula, ...]] = {
    "rate-multiplied": lambda lr, n: lr * n,
    "rate-unchanged": lambda lr, n: lr,
    "fixed-number": (
        *with_fixed(_sum_form_rate, 0, (1.0, 0.1, 0.01, 0.001)),
        *with_fixed(_sum_form_rate, 1, (2, 3, 4, 8, 16, 32)),
    ),
    "rounded": with_rounding(_sum_form_rate),
}
"""By mistake, the rate that comes of it instead of ``lr / n``."""

WRONG_COMPARISONS: dict[str, Formula] = {
    "compares-sum": lambda a, b: sum(a) == sum(b),
    "compares-accumulation-steps": lambda a, b: a[1] == b[1],
    "compares-micro-batch": lambda a, b: a[0] == b[0],
    "compares-configurations": lambda a, b: a == b,
}
"""By mistake, the answer that comes of it instead of :func:`same_samples`."""
