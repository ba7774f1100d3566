"""Training loops are compared with large-batch training, and what they do instead is put into words."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.contract.observation import Observation
from autograder.contract.trials import probe_length, uneven_sizes
from autograder.diagnosing.loops import diagnose, difference_in_words, read_observation
from autograder.judging.comparing import close
from autograder.judging.loops import (
    holds_several_graphs,
    is_cut_finely,
    is_one_forward,
    large_batch_gradients,
    large_batch_parameters,
    moves_like_large_batches,
)
from autograder.observing.loops import LoopTrial, observe_loop
from gradaccum.fingerprint import batch_gradient, expected, fingerprint
from gradaccum.loops import GALLERY, right, windows
from gradaccum.problems import Problem, flat_parameters, joined

PROBLEM = Problem(seed=2, accumulation_steps=3, epochs=((2, 1, 4, 3, 2), (2, 2)), width=8)
PROBE = PROBLEM.with_(stale=True, gated=True)
MEMORY = LoopTrial(Problem(accumulation_steps=24, epochs=((16,) * 24,), width=2, depth=12), meter=True)

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


def slugs(loop, problem: Problem = PROBE) -> tuple[str, ...]:
    return diagnose(*observed(loop, problem, frozen=True)).slugs


@settings(deadline=None, max_examples=40)
@given(PROBLEMS)
def test_the_right_loop_moves_like_large_batches(problem):
    assert moves_like_large_batches(*observed(right, problem))


@pytest.mark.parametrize("slug", sorted(GALLERY.keys() - {"right", "stale-start", "eval-mode"}))
def test_other_loops_do_not(slug):
    assert not moves_like_large_batches(*observed(GALLERY[slug]))


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


def test_an_error_of_one_percent_is_no_rounding():
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
    start, still = large_batch_parameters(PROBLEM, [0.0] * 3)
    assert torch.equal(still, torch.stack([start, start]))
    _, half = large_batch_parameters(PROBLEM, [0.5] * 3)
    _, same = large_batch_parameters(PROBLEM.with_(lr=PROBLEM.lr / 2))
    assert torch.allclose(half, same)


def test_large_batch_gradients_are_combinations_of_micro_batch_gradients():
    trial, observation = observed(right, frozen=True)
    assert torch.allclose(large_batch_gradients(PROBLEM), observation.tensors["gradients"])
    assert read_observation(trial, observation).same_as(expected(PROBLEM))


@pytest.mark.parametrize("spoilt", [float("nan"), float("inf")])
def test_what_is_no_number_is_close_to_nothing(spoilt):
    due = torch.ones(3)
    assert not close(torch.tensor([1.0, 1.0, spoilt]), due, "float32")
    assert not close(torch.full((3,), spoilt), torch.full((3,), spoilt), "float32")


def test_closeness_depends_on_the_precision():
    due = torch.ones(3, dtype=torch.float64)
    assert close(due * (1 + 1e-7), due, "float64")
    assert not close(due * (1 + 1e-5), due, "float64")
    assert close(due * (1 + 1e-5), due, "float32")
    assert not close(due[:2], due, "float64")


def test_an_observation_is_plain_data():
    _, observation = observed(right)
    assert set(observation.tensors) == {"gradients", "movements", "parameters"}
    assert all(tensor.device.type == "cpu" and not tensor.requires_grad for tensor in observation.tensors.values())
    assert observation.failure is None


def test_a_loop_that_raises_is_observed_until_then():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        model(micro_batches[0][0])
        return micro_batches[100]

    _, observation = observed(loop)
    assert observation.failure.kind == "raised"
    assert "IndexError" in observation.failure.message
    assert observation.facts["forwards_with_grad"] == 1
    assert not observation.tensors


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


def test_an_unmetered_observation_holds_nothing():
    assert not holds_several_graphs(MEMORY, Observation())


def test_evaluation_mode_is_named_with_what_else_is_wrong():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        model.eval()
        GALLERY["no-scale"](model, loss_fn, optimizer, micro_batches, accumulation_steps)

    assert slugs(loop) == ("eval-mode", "no-scale")


def test_a_mode_that_changes_between_windows_is_found():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for k, window in enumerate(windows(micro_batches, accumulation_steps)):
            model.train(k % 2 == 0)
            right(model, loss_fn, optimizer, window, accumulation_steps)
        model.train()

    assert slugs(loop) == ("eval-mode",)


def test_a_mode_that_is_left_behind_is_named_even_where_no_layer_cares():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        right(model, loss_fn, optimizer, micro_batches, accumulation_steps)
        model.eval()

    assert slugs(loop, PROBLEM) == ("eval-mode",)


def test_parameters_that_are_never_reached_are_named_with_what_else_is_wrong():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for p in model.hidden[0].parameters():
            p.requires_grad_(False)
        GALLERY["no-scale"](model, loss_fn, optimizer, micro_batches, accumulation_steps)

    few = Problem(seed=1, accumulation_steps=2, epochs=((2, 2, 2), (2, 3)), width=8)
    assert slugs(loop, few) == ("detached", "no-scale")


def test_parameters_that_are_never_reached_are_named_where_nothing_else_can_be_read():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for window in windows(micro_batches, accumulation_steps):
            for x, y in window:
                model.head.bias.grad = torch.autograd.grad(loss_fn(model(x), y), model.head.bias)[0]
            optimizer.step()

    assert slugs(loop) == ("detached",)


def test_a_loss_without_a_graph_is_named_by_why_it_has_none():
    def disabled(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        with torch.no_grad():
            loss = loss_fn(model(micro_batches[0][0]), micro_batches[0][1])
        loss.backward()

    def detached(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        with torch.no_grad():
            model(micro_batches[0][0])
        loss_fn(model(micro_batches[0][0]).detach(), micro_batches[0][1]).backward()

    assert slugs(disabled) == ("grad-disabled",)
    assert slugs(detached) == ("detached",)


def test_other_errors_in_backward_have_no_name():
    def twice(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        loss = loss_fn(model(micro_batches[0][0]), micro_batches[0][1])
        loss.backward()
        loss.backward()

    def changed(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        prediction = model(micro_batches[0][0])
        loss = loss_fn(prediction, micro_batches[0][1])
        prediction.mul_(2)
        loss.backward()

    assert slugs(twice) == slugs(changed) == ()


def test_an_error_of_python_has_no_name():
    assert slugs(lambda *arguments: 1 / 0) == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: replace(f, coefficients=f.coefficients * 2), "Update 1 holds 4/7 of micro-batch 1"),
        (lambda f: replace(f, coefficients=f.coefficients * 0), "Update 1 holds nothing; due were 2/7 of micro-batch 1"),
        (lambda f: replace(f, rates=f.rates * 2), "Update 1 moves the parameters 2 times as far as"),
        (lambda f: replace(f, residuals=f.residuals + 0.25), "up to 25% of one is something else"),
        (lambda f: replace(f, residuals=f.residuals + torch.inf), "no longer numbers"),
        (lambda f: replace(f, coefficients=f.coefficients[:2]), "2 updates where 3 were due"),
        (lambda f: replace(f, coefficients=f.coefficients[:0], residuals=f.residuals[:0]), "never asked for an update"),
        (lambda f: f, ""),
    ],
)
def test_the_first_difference_is_put_into_words(change, words):
    due = expected(PROBLEM)
    said = difference_in_words(change(due), due)
    assert words in said
    assert bool(words) is bool(said)


def test_a_loop_that_nothing_explains_gets_words_instead_of_a_name():
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for x, y in micro_batches:
            loss_fn(model(x), y).backward()
        optimizer.step()

    found = diagnose(*observed(loop, PROBE, frozen=True))
    assert found.slugs == ()
    assert found.remark == "Your loop made 2 updates where 3 were due."
    assert found.found.same_as(fingerprint(loop, PROBE))


def window_gradient(problem: Problem, size: int) -> torch.Tensor:
    """The mean gradient of a window from forwards of ``size`` samples."""
    model, (x, y) = problem.build_model(), joined(problem.batches())
    pieces = zip(x.split(size), y.split(size), strict=True)
    return torch.stack([batch_gradient(model, problem.loss_fn, piece) for piece in pieces]).mean(0)


@pytest.mark.parametrize(
    ("size", "finely", "one_forward"),
    [
        pytest.param(1, True, False, marks=pytest.mark.slow),
        (8, True, False),
        (16, True, False),
        (32, False, False),
        (24 * 8, False, False),
        (24 * 16, False, True),
    ],
)
def test_the_gradient_of_a_coupled_model_shows_how_large_its_forwards_were(size, finely, one_forward):
    for seed in range(8):
        problem = MEMORY.problem.with_(seed=seed, coupled=True)
        gradient = window_gradient(problem, size)
        assert (is_cut_finely(problem, gradient), is_one_forward(problem, gradient)) == (finely, one_forward)


@pytest.mark.parametrize("count", [3, 4, 5])
def test_sizes_of_a_window_differ_and_the_last_is_not_their_mean(count):
    for seed in range(50):
        sizes = uneven_sizes(random.Random(seed), [1, 2, 3, 4, 5], count)
        assert len(set(sizes)) == count
        assert sizes[-1] != sum(sizes) / count


@pytest.mark.parametrize(("steps", "left"), [(n, left) for n in (3, 4, 5) for left in range(2, n)])
@pytest.mark.parametrize(("first", "wider"), [(0, 0), (-1, -1), (1, 1), (-1, 0), (1, 0)])
def test_windows_of_nearly_the_right_width_leave_something_over_in_a_probe(steps, left, first, wider):
    lengths = steps + left, probe_length(2, steps, left)
    assert any((length - (steps + first)) % (steps + wider) for length in lengths)
