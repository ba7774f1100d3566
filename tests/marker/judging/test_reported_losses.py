"""The losses that a loop reports are compared with each window's mean loss over its samples."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.exercises import all_exercises
from autograder.judging.reported_losses import loss_mistakes, same_numbers, window_losses
from autograder.observing.loops import MAX_LOSSES, plain_losses
from gradaccum.loops import windows
from gradaccum.problems import Problem

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=9).map(tuple)
PROBLEMS = st.builds(
    Problem,
    seed=st.integers(0, 1000),
    accumulation_steps=st.integers(1, 5),
    epochs=st.lists(SIZES, min_size=1, max_size=2).map(tuple),
)


@settings(max_examples=30)
@given(PROBLEMS)
def test_loss_of_a_window_is_that_of_its_samples_as_one_batch(problem):
    model = problem.build_model()
    due = []
    for epoch in range(len(problem.epochs)):
        joined = [
            [torch.cat(part) for part in zip(*window, strict=True)]
            for window in windows(problem.batches(epoch), problem.accumulation_steps)
        ]
        due.append([problem.loss_fn(model(x), y).item() for x, y in joined])
    assert same_numbers(window_losses(problem), due)


@settings(max_examples=30)
@given(PROBLEMS)
def test_losses_off_by_an_arbitrary_factor_have_no_name(problem):
    assert not loss_mistakes(problem, [[1.2345 * loss for loss in row] for row in window_losses(problem)])


def report(formula):
    """What is returned on the marker's problem by a loop that reports ``formula`` of a window's losses and sizes."""
    problem = all_exercises()["train_epoch"].trials(3, "cpu")["losses"].problem
    model = problem.build_model()
    returned = []
    for epoch in range(len(problem.epochs)):
        row = []
        for window in windows(problem.batches(epoch), problem.accumulation_steps):
            losses = [problem.loss_fn(model(x), y).item() for x, y in window]
            row.append(formula(losses, [len(x) for x, _ in window], problem.accumulation_steps))
        returned.append(row)
    return problem, returned


def weighted(losses, sizes):
    return sum(loss * size for loss, size in zip(losses, sizes, strict=True)) / sum(sizes)


@pytest.mark.parametrize(
    ("formula", "slugs"),
    [
        (lambda losses, sizes, n: losses[-1], ("loss-of-last",)),
        (lambda losses, sizes, n: sum(losses) / len(losses), ("loss-mean-of-means",)),
        (lambda losses, sizes, n: sum(losses), ("loss-summed",)),
        (lambda losses, sizes, n: weighted(losses, sizes) * sum(sizes), ("loss-summed",)),
        (lambda losses, sizes, n: weighted(losses, sizes) / n, ("loss-scaled-in-log",)),
        (lambda losses, sizes, n: weighted(losses, sizes) / len(losses), ("loss-scaled-in-log",)),
        (lambda losses, sizes, n: losses[-1] / n, ("loss-of-last", "loss-scaled-in-log")),
        (lambda losses, sizes, n: losses[-1] / len(losses), ("loss-of-last", "loss-scaled-in-log")),
        (lambda losses, sizes, n: losses[-1] * sizes[-1] / sum(sizes), ("loss-of-last", "loss-scaled-in-log")),
        (lambda losses, sizes, n: sum(losses) / n, ("loss-mean-of-means", "loss-scaled-in-log")),
        (lambda losses, sizes, n: sum(losses) / n**2, ("loss-mean-of-means", "loss-scaled-in-log")),
        (lambda losses, sizes, n: losses[0], ()),
        (lambda losses, sizes, n: 0.0, ()),
        (lambda losses, sizes, n: float("nan"), ()),
    ],
)
def test_wrong_report_is_named(formula, slugs):
    problem, returned = report(formula)
    assert not same_numbers(returned, window_losses(problem))
    assert loss_mistakes(problem, returned) == slugs


def test_mean_over_the_samples_is_right():
    problem, returned = report(lambda losses, sizes, n: weighted(losses, sizes))
    assert same_numbers(returned, window_losses(problem))


def test_losses_summed_in_single_precision_are_right():
    problem, returned = report(lambda losses, sizes, n: torch.tensor(weighted(losses, sizes), dtype=torch.float32).item())
    assert same_numbers(returned, window_losses(problem))


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ([1, 2.5], [1.0, 2.5]),
        ((1.0,), [1.0]),
        ([], []),
        ([torch.tensor(1.5), torch.tensor([2.5])], [1.5, 2.5]),
        ([torch.tensor(1.5, requires_grad=True) * 2], [3.0]),
        (torch.tensor([1.0, 2.0]), [1.0, 2.0]),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
        ([np.float64(1.5), np.float32(2.5)], [1.5, 2.5]),
    ],
)
def test_lists_tuples_and_tensors_of_numbers_are_read_as_losses(value, numbers):
    assert plain_losses(value) == numbers


@pytest.mark.parametrize(
    "value",
    [
        *(None, 1.0, "0.5", ["0.5"], [None], [[1.0]], [torch.ones(2)], {0: 1.0}, iter([1.0]), [10**400], [1j], [True]),
        *(torch.tensor(1.0), torch.ones(2, 2), np.ones((2, 2)), np.float64(1.0), [0.0] * (MAX_LOSSES + 1), object()),
    ],
)
def test_anything_but_a_sequence_of_numbers_is_not_read_as_losses(value):
    assert plain_losses(value) is None
