"""Training loops are compared with large-batch training: their updates, their precision, their memory."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.contract.observation import Observation
from autograder.diagnosing.loop_diagnosis import read_observation
from autograder.judging.large_batches import (
    MAX_JOINED,
    METERED,
    METERED_WINDOW,
    groups_in_words,
    holds_several_graphs,
    is_cut_finely,
    is_one_forward,
    large_batch_gradients,
    large_batch_parameters,
    moves_like_large_batches,
    training_in_words,
)
from autograder.judging.tolerances import close
from autograder.observing.loops import LoopTrial, observe_loop
from gradaccum.fingerprint import batch_gradient, expected
from gradaccum.loops import GALLERY, right, windows
from gradaccum.problems import Problem, flat_parameters, joined

PROBLEM = Problem(seed=2, accumulation_steps=3, epochs=((2, 1, 4, 3, 2), (2, 2)), width=8)
MEMORY = LoopTrial(Problem(accumulation_steps=24, epochs=(METERED_WINDOW,), **METERED), meter=True)

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=7).map(tuple)
PROBLEMS = st.builds(
    Problem,
    seed=st.integers(0, 1000),
    accumulation_steps=st.integers(1, 4),
    epochs=st.lists(SIZES, min_size=1, max_size=2).map(tuple),
    one_shot=st.booleans(),
    extras=st.booleans(),
)


def observed(loop, problem: Problem = PROBLEM, **options) -> tuple[LoopTrial, Observation]:
    trial = LoopTrial(problem, **options)
    return trial, observe_loop(loop, trial)


@settings(max_examples=40)
@given(PROBLEMS)
def test_the_right_loop_moves_like_large_batches(problem):
    assert moves_like_large_batches(*observed(right, problem))


@pytest.mark.parametrize("slug", sorted(GALLERY.keys() - {"right", "stale-start", "eval-mode"}))
def test_wrong_loops_do_not_move_like_large_batches(slug):
    assert not moves_like_large_batches(*observed(GALLERY[slug]))


def without_momentum(model, loss_fn, optimizer, *rest):
    optimizer.param_groups[0]["momentum"] = 0.0
    return right(model, loss_fn, optimizer, *rest)


def forgets_momentum(model, loss_fn, optimizer, *rest):
    optimizer.state.clear()
    return right(model, loss_fn, optimizer, *rest)


def swaps_arguments_of_loss(model, loss_fn, *rest):
    return right(model, lambda prediction, target: loss_fn(target, prediction), *rest)


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        (
            without_momentum,
            "The parameters are those of updates without momentum, although the optimizer you are given has some.",
        ),
        (forgets_momentum, "The parameters are those of an optimizer that forgets its momentum after each epoch."),
        (
            swaps_arguments_of_loss,
            "The parameters are those of updates whose loss was given its two arguments in the wrong order.",
        ),
        (right, ""),
    ],
)
def test_momentum_switched_off_or_forgotten_and_swapped_arguments_of_the_loss_are_described(loop, words):
    assert training_in_words(*observed(loop, PROBLEM.with_(momentum=0.5, skewed=True))) == words


def test_sums_in_single_precision_move_like_large_batches():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for window in windows(micro_batches, accumulation_steps):
            samples = sum(len(x) for x, _ in window)
            sums = [torch.zeros_like(p, dtype=torch.float32) for p in model.parameters()]
            for x, y in window:
                gradients = torch.autograd.grad(loss_fn(model(x), y), list(model.parameters()))
                for s, g in zip(sums, gradients, strict=True):
                    s += g * len(x) / samples
            for p, s in zip(model.parameters(), sums, strict=True):
                p.grad = s.double()
            optimizer.step()

    assert moves_like_large_batches(*observed(loop))


def test_an_error_of_one_percent_is_not_taken_for_rounding():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        optimizer.param_groups[0]["lr"] *= 1.01
        right(model, loss_fn, optimizer, micro_batches, accumulation_steps)
        optimizer.param_groups[0]["lr"] /= 1.01

    assert not moves_like_large_batches(*observed(loop))


def test_large_batch_training_is_that_of_torch():
    model = PROBLEM.build_model()
    optimizer = PROBLEM.build_optimizer(model)
    start, after = large_batch_parameters(PROBLEM)
    assert torch.equal(start, flat_parameters(model))
    for epoch in range(2):
        for window in windows(PROBLEM.batches(epoch), 3):
            x, y = joined(window)
            optimizer.zero_grad()
            PROBLEM.loss_fn(model(x), y).backward()
            optimizer.step()
        assert torch.allclose(after[epoch], flat_parameters(model), rtol=0, atol=1e-14)


def test_large_batch_training_can_follow_a_schedule():
    start, still = large_batch_parameters(PROBLEM, (0.0,) * 3)
    assert torch.equal(still, torch.stack([start, start]))
    _, half = large_batch_parameters(PROBLEM, (0.5,) * 3)
    _, same = large_batch_parameters(PROBLEM.with_(lr=PROBLEM.lr / 2))
    assert torch.allclose(half, same)


def test_a_loop_that_is_wrong_in_one_group_of_parameters_is_told_in_which():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        group = optimizer.param_groups[1]
        group["lr"] *= 2
        right(model, loss_fn, optimizer, micro_batches, accumulation_steps)
        group["lr"] /= 2

    problem = PROBLEM.with_(epochs=((2,), (2, 2)), grouped=0.5)
    words = groups_in_words(*observed(loop, problem))
    assert words == "The optimizer has two parameter groups here: its first is updated as it should be, its second is not."
    assert groups_in_words(*observed(right, problem)) == ""


def test_large_batch_gradients_are_combinations_of_micro_batch_gradients():
    trial, observation = observed(right, frozen=True)
    assert torch.allclose(large_batch_gradients(PROBLEM), observation.tensors["gradients"])
    assert read_observation(trial, observation).same_as(expected(PROBLEM))


@pytest.mark.parametrize("spoilt", [float("nan"), float("inf")])
def test_values_that_are_not_finite_are_close_to_nothing(spoilt):
    due = torch.ones(3)
    assert not close(torch.tensor([1.0, 1.0, spoilt]), due, "float32")
    assert not close(torch.full((3,), spoilt), torch.full((3,), spoilt), "float32")


def test_closeness_depends_on_the_precision():
    due = torch.ones(3, dtype=torch.float64)
    assert close(due * (1 + 1e-7), due, "float64")
    assert not close(due * (1 + 1e-5), due, "float64")
    assert close(due * (1 + 1e-5), due, "float32")
    assert not close(due[:2], due, "float64")


def one_at_once(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for window in windows(micro_batches, accumulation_steps):
        sum(loss_fn(model(x), y) for x, y in window).backward()
        optimizer.step()


def keeps_losses(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    kept = []
    for x, y in micro_batches:
        kept.append(loss_fn(model(x), y))
        kept[-1].backward()
    return kept


def copies_the_data(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    kept = [(x.clone(), y.clone()) for x, y in micro_batches]
    return right(model, loss_fn, optimizer, kept, accumulation_steps)


@pytest.mark.parametrize(
    ("loop", "several"), [(right, False), (keeps_losses, False), (copies_the_data, False), (one_at_once, True)]
)
def test_memory_tells_several_graphs_from_one(loop, several):
    assert holds_several_graphs(MEMORY, observe_loop(loop, MEMORY)) is several


def test_forwards_of_a_few_micro_batches_are_fine_where_only_memory_bounds_them():
    problem = MEMORY.problem.with_(coupled=True)
    x, y = joined(problem.batches())
    model = problem.build_model()
    for joined_ones, fine in ((2, True), (7, True), (12, False), (1.5, False)):
        size = int(joined_ones * METERED_WINDOW[0])
        pieces = zip(x.split(size), y.split(size), strict=True)
        shares = [batch_gradient(model, problem.loss_fn, piece) * len(piece[0]) / len(x) for piece in pieces]
        assert is_cut_finely(problem, torch.stack(shares).sum(0), MAX_JOINED) == fine


def test_an_unmetered_observation_says_nothing_about_memory():
    assert not holds_several_graphs(MEMORY, Observation())


def window_gradient(problem: Problem, size: int) -> torch.Tensor:
    """The mean gradient of a window from forwards of ``size`` samples."""
    model, (x, y) = problem.build_model(), joined(problem.batches())
    pieces = zip(x.split(size), y.split(size), strict=True)
    return torch.stack([batch_gradient(model, problem.loss_fn, piece) for piece in pieces]).mean(0)


@pytest.mark.parametrize(
    ("size", "finely", "one_forward"),
    [
        pytest.param(1, True, False, marks=pytest.mark.slow),
        (METERED_WINDOW[0] // 2, True, False),
        (METERED_WINDOW[0], True, False),
        pytest.param(METERED_WINDOW[0] * 2, False, False, marks=pytest.mark.slow),
        (sum(METERED_WINDOW) // 2, False, False),
        (sum(METERED_WINDOW), False, True),
    ],
)
def test_the_gradient_of_a_coupled_model_shows_how_large_its_forwards_were(size, finely, one_forward):
    for seed in range(3):
        problem = MEMORY.problem.with_(seed=seed, coupled=True)
        gradient = window_gradient(problem, size)
        assert (is_cut_finely(problem, gradient), is_one_forward(problem, gradient)) == (finely, one_forward)
