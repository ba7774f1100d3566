"""What a training loop reports: the mean loss of each window, and what wrong loops report instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from operator import mul, truediv

import torch

from autograder.judging.number_relations import rows_relation
from gradaccum.loops import windows
from gradaccum.problems import MicroBatch, Problem, joined

Losses = list[list[float]]
"""For each epoch one number for each window."""

CHANGED_LATER = "What your function returned for one epoch was changed when it was called for the next."
"""What to say of a report that is kept between calls."""

Formula = Callable[[list[float], list[int]], float]
"""What is reported for a window, from the losses of its micro-batches and their sizes."""


def window_losses(problem: Problem) -> Losses:
    """The mean loss of each window over its samples, at the parameters the problem starts with."""
    return [[_mean(losses, sizes) for losses, sizes in epoch] for epoch in _micro_batch_losses(problem)]


def moving_window_losses(problem: Problem) -> Losses:
    """The mean loss of each window over its samples, at the parameters that the windows before it have led to.

    For losses that are a mean over samples.
    """
    model = problem.build_model()
    optimizer = problem.build_optimizer(model)

    def trained_on(window: list[MicroBatch]) -> float:
        x, y = joined(window)
        loss = problem.loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    epochs = range(len(problem.epochs))
    return [[trained_on(window) for window in windows(problem.batches(e), problem.accumulation_steps)] for e in epochs]


def loss_mistakes(problem: Problem, returned: Losses) -> tuple[str, ...]:
    """The mistakes that explain what a loop reported instead of each window's mean loss; empty if no known ones do."""
    micro_batch_losses = list(_micro_batch_losses(problem))
    for slugs, formula in _wrong_reports(problem.accumulation_steps):
        if same_numbers(returned, [[formula(*window) for window in epoch] for epoch in micro_batch_losses]):
            return slugs
    return ()


UNASKED = "What you return can be judged once the step of the optimizer that you are given makes the updates."
"""Said of wrong numbers where the optimizer was not asked for any update: parameters that were moved otherwise change them."""


def losses_in_words(returned: Losses, due: Losses, weights: Losses | None = None) -> str:
    """How the losses that were returned follow from those due, as a sentence to append; empty if in no known way.

    Args:
        returned, due: what the loop reported and what it should have.
        weights: of the windows in a mean over several, such as their samples.
    """
    summed = weights and [list(_sums_over_last(*epoch)) for epoch in zip(due, weights, strict=True)]
    if summed and same_numbers(returned, summed):
        return " Your sum of losses goes on growing from window to window, instead of beginning at zero in each."
    if weights and same_numbers(returned, [list(_so_far(*epoch)) for epoch in zip(due, weights, strict=True)]):
        return " Each of your losses is the mean over all samples of the epoch up to there."
    words = rows_relation(returned, due, "Each of your losses", LOSSES)
    return words and f" {words}"


def _so_far(losses: list[float], weights: list[float]) -> Iterator[float]:
    return map(truediv, accumulate(map(mul, losses, weights)), accumulate(weights))


def _sums_over_last(losses: list[float], weights: list[float]) -> Iterator[float]:
    """What comes of a sum that is never reset, divided by what the last window holds."""
    return map(truediv, accumulate(map(mul, losses, weights)), (max(1, weight) for weight in weights))


LOSSES = 1e-6
"""Relative difference up to which two losses are the same: this admits sums in float32; wrong ones differ by more than 1e-2."""


def same_numbers(found: Losses, due: Losses) -> bool:
    """Whether two reports agree up to rounding."""
    if [len(row) for row in found] != [len(row) for row in due]:
        return False
    pairs = ((f, d) for a, b in zip(found, due, strict=True) for f, d in zip(a, b, strict=True))
    return all(abs(f - d) <= LOSSES * abs(d) for f, d in pairs)


def _micro_batch_losses(problem: Problem) -> Iterator[list[tuple[list[float], list[int]]]]:
    """For each epoch and window the losses of its micro-batches and their sizes."""
    model, steps = problem.build_model(), problem.accumulation_steps
    for epoch, sizes in enumerate(problem.epochs):
        with torch.no_grad():
            losses = [problem.loss_fn(model(x), y).item() for x, y in problem.batches(epoch)]
        yield list(zip(windows(losses, steps), windows(sizes, steps), strict=True))


def _wrong_reports(steps: int) -> tuple[tuple[tuple[str, ...], Formula], ...]:
    """Mistakes, and what a loop with them reports for a window."""
    last, means, scaled, summed = "loss-of-last", "loss-mean-of-means", "loss-scaled-in-log", "loss-summed"
    return (
        ((last,), lambda losses, sizes: losses[-1]),
        ((means,), lambda losses, sizes: sum(losses) / len(losses)),
        ((scaled,), lambda losses, sizes: _mean(losses, sizes) / len(losses)),
        ((scaled,), lambda losses, sizes: _mean(losses, sizes) / steps),
        ((summed,), lambda losses, sizes: sum(losses)),
        ((summed,), lambda losses, sizes: _mean(losses, sizes) * sum(sizes)),
        ((last, scaled), lambda losses, sizes: losses[-1] / len(losses)),
        ((last, scaled), lambda losses, sizes: losses[-1] / steps),
        ((last, scaled), lambda losses, sizes: losses[-1] * sizes[-1] / sum(sizes)),
        ((means, scaled), lambda losses, sizes: sum(losses) / steps),
        ((means, scaled), lambda losses, sizes: sum(losses) / len(losses) ** 2),
        ((means, scaled), lambda losses, sizes: sum(losses) / steps**2),
    )


def _mean(losses: list[float], sizes: list[int]) -> float:
    return sum(loss * size for loss, size in zip(losses, sizes, strict=True)) / sum(sizes)
