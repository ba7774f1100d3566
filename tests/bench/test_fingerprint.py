"""A loop's fingerprint says which micro-batch gradients are in each update, and how much of each."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gradaccum.fingerprint import (
    Fingerprint,
    as_fraction,
    batch_gradient,
    expected,
    fingerprint,
    micro_batch_columns,
    micro_batch_gradients,
    solve,
)
from gradaccum.loops import GALLERY
from gradaccum.problems import Problem, flat_gradient, trainable

ROUNDING = 1e-9
"""Coefficients in float64: 1e-16 times the condition number of the basis, which stays below 1e5 for these problems."""

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=9).map(tuple)
PROBLEMS = st.builds(
    Problem,
    seed=st.integers(0, 10_000),
    accumulation_steps=st.integers(1, 5),
    epochs=st.lists(SIZES, min_size=1, max_size=2).map(tuple),
    width=st.just(8),
    stale=st.booleans(),
    one_shot=st.booleans(),
    extras=st.booleans(),
    gated=st.booleans(),
)
TWO_WINDOWS = Problem(seed=1, epochs=((2, 2, 2, 2, 2, 2, 2, 2),), width=8)


@settings(max_examples=60)
@given(PROBLEMS)
def test_the_right_loop_has_the_expected_fingerprint(problem):
    found, due = fingerprint(GALLERY["right"], problem), expected(problem)
    assert found.row_epochs == due.row_epochs
    assert torch.allclose(found.coefficients, due.coefficients, rtol=0, atol=ROUNDING)
    assert torch.allclose(found.rates, due.rates, rtol=0, atol=ROUNDING)
    assert found.same_as(due)


@settings(max_examples=60)
@given(PROBLEMS)
def test_rows_of_a_right_loop_sum_to_one_and_use_every_micro_batch_once(problem):
    coefficients = expected(problem).coefficients
    assert torch.allclose(coefficients.sum(1), torch.ones(len(coefficients), dtype=torch.float64))
    assert ((coefficients > 0).sum(0) == 1).all()


@settings(max_examples=40)
@given(PROBLEMS, st.sampled_from([slug for slug in GALLERY if slug != "eval-mode"]))
def test_loops_that_weigh_add_and_clear_leave_no_residual(problem, slug):
    found = fingerprint(GALLERY[slug], problem)
    assert found.linear
    assert (found.residuals < ROUNDING).all()


def test_the_fingerprint_does_not_depend_on_the_parameters_moving():
    assert fingerprint(GALLERY["no-scale"], TWO_WINDOWS.with_(lr=100.0)).same_as(fingerprint(GALLERY["no-scale"], TWO_WINDOWS))


@pytest.mark.parametrize(
    ("slug", "rows"),
    [
        ("right", [[1 / 4] * 4 + [0] * 4, [0] * 4 + [1 / 4] * 4]),
        ("no-scale", [[1] * 4 + [0] * 4, [0] * 4 + [1] * 4]),
        ("double-scale", [[1 / 16] * 4 + [0] * 4, [0] * 4 + [1 / 16] * 4]),
        ("sum-reduction", [[2] * 4 + [0] * 4, [0] * 4 + [2] * 4]),
        ("zero-every", [[0, 0, 0, 1 / 4, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1 / 4]]),
        ("never-zero", [[1 / 4] * 4 + [0] * 4, [1 / 4] * 8]),
        ("zero-before-step", [[0] * 8, [0] * 8]),
        ("retained-graph", [[1, 3 / 4, 1 / 2, 1 / 4] + [0] * 4, [0] * 4 + [1, 3 / 4, 1 / 2, 1 / 4]]),
        ("off-by-one-early", [[1] + [0] * 7, [0] + [1 / 4] * 4 + [0] * 3, [0] * 5 + [1 / 3] * 3]),
        ("off-by-one-late", [[1 / 5] * 5 + [0] * 3, [0] * 5 + [1 / 3] * 3]),
        ("same-batch-repeated", [[1] + [0] * 7, [0] * 4 + [1] + [0] * 3]),
    ],
)
def test_famous_loops_have_their_famous_fingerprints(slug, rows):
    found = fingerprint(GALLERY[slug], TWO_WINDOWS)
    assert torch.allclose(found.coefficients, torch.tensor(rows, dtype=torch.float64), atol=ROUNDING)


def test_a_leftover_is_dropped_or_joins_the_next_epoch():
    problem = Problem(accumulation_steps=2, epochs=((2, 2, 2), (2, 2)), width=8)
    dropped = [[1 / 2, 1 / 2, 0, 0, 0], [0, 0, 0, 1 / 2, 1 / 2]]
    stale = [[1 / 2, 1 / 2, 0, 0, 0], [0, 0, 1, 1 / 2, 1 / 2]]
    for slug, rows in (("tail-dropped", dropped), ("tail-stale", stale)):
        found = fingerprint(GALLERY[slug], problem)
        assert torch.allclose(found.coefficients, torch.tensor(rows, dtype=torch.float64), atol=ROUNDING)


def test_a_changed_learning_rate_shows_in_the_rates():
    found = fingerprint(GALLERY["lr-scaled-too"], TWO_WINDOWS)
    assert torch.allclose(found.coefficients, expected(TWO_WINDOWS).coefficients, atol=ROUNDING)
    assert torch.allclose(found.rates, torch.tensor([1 / 4, 1 / 4], dtype=torch.float64), atol=ROUNDING)
    assert not found.same_as(expected(TWO_WINDOWS))


def test_a_stale_gradient_has_its_own_coefficient():
    problem = TWO_WINDOWS.with_(stale=True)
    assert torch.allclose(fingerprint(GALLERY["stale-start"], problem).stale, torch.tensor([1.0, 0.0], dtype=torch.float64))
    assert not fingerprint(GALLERY["right"], problem).stale.abs().max() > ROUNDING
    assert fingerprint(GALLERY["right"], TWO_WINDOWS).stale is None


def test_a_loop_that_clips_is_not_linear():
    def clipping(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for x, y in micro_batches:
            optimizer.zero_grad()
            loss_fn(model(x), y).backward()
            for p in model.parameters():
                p.grad.clamp_(-1e-3, 1e-3)
            optimizer.step()

    found = fingerprint(clipping, TWO_WINDOWS)
    assert not found.linear
    assert found.residuals.min() > 1e-2


def test_updates_in_evaluation_mode_are_read_with_gradients_in_evaluation_mode():
    problem = TWO_WINDOWS.with_(gated=True)
    gradient = micro_batch_gradients(problem, training=False)[:1]
    assert not solve(gradient, gradient, [0], problem).linear
    found = solve(gradient, gradient, [0], problem, training=False)
    assert found.linear
    assert torch.allclose(found.coefficients, torch.eye(8, dtype=torch.float64)[:1], atol=ROUNDING)


def test_updates_can_be_read_from_some_entries_of_the_gradient():
    basis = micro_batch_gradients(TWO_WINDOWS)
    among = torch.zeros(basis.shape[1], dtype=torch.bool)
    among[::2] = True
    gradient = (basis[0] + basis[3]) * among
    assert not solve(gradient[None], gradient[None], [0], TWO_WINDOWS).linear
    found = solve(gradient[None], gradient[None], [0], TWO_WINDOWS, among=among)
    assert found.linear
    assert torch.allclose(found.coefficients, torch.tensor([[1.0, 0, 0, 1, 0, 0, 0, 0]], dtype=torch.float64), atol=ROUNDING)


def test_too_few_gradient_entries_to_tell_micro_batches_apart_are_refused():
    basis = micro_batch_gradients(TWO_WINDOWS)
    with pytest.raises(ValueError, match="not linearly independent"):
        solve(basis, basis, [0] * 8, TWO_WINDOWS, among=torch.arange(basis.shape[1]) < 7)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e300])
def test_an_update_with_infinite_or_nan_entries_is_not_linear(value):
    basis = micro_batch_gradients(TWO_WINDOWS)
    gradients = torch.stack([torch.full_like(basis[0], value), basis[0]])
    found = solve(gradients, gradients, [0, 0], TWO_WINDOWS)
    assert not found.linear
    assert bool(found.residuals[1] < ROUNDING)
    assert not found.residuals.isnan().any()
    assert found.as_text()


def test_a_loop_without_updates_has_a_fingerprint_without_rows():
    found = fingerprint(lambda *arguments: None, TWO_WINDOWS)
    assert found.coefficients.shape == (0, 8)
    assert found.linear
    assert found.as_text() == "(no update)"


def test_dependent_gradients_are_refused_with_advice():
    with pytest.raises(ValueError, match="use a wider model"):
        fingerprint(GALLERY["right"], Problem(epochs=((1,) * 40,), width=1))


def test_columns_are_the_micro_batches_of_all_epochs():
    assert micro_batch_columns(Problem(epochs=((1, 2), (3,)))) == ((0, 1), (0, 2), (1, 3))


def test_the_gradient_of_a_batch_is_that_of_its_loss_and_leaves_no_trace():
    problem = Problem(extras=True)
    model, (x, y) = problem.build_model(), problem.batches()[0]
    found = batch_gradient(model, problem.loss_fn, (x, y))
    assert all(p.grad is None for p in trainable(model))
    problem.loss_fn(model(x), y).backward()
    assert torch.equal(found, flat_gradient(model))


@settings(max_examples=30)
@given(PROBLEMS)
def test_the_gradient_of_a_large_batch_is_the_weighted_sum_of_its_parts(problem):
    model, batches = problem.build_model(), problem.batches()
    whole = batch_gradient(model, problem.loss_fn, (torch.cat([x for x, _ in batches]), torch.cat([y for _, y in batches])))
    samples = sum(problem.epochs[0])
    parts = sum(len(x) / samples * batch_gradient(model, problem.loss_fn, (x, y)) for x, y in batches)
    assert torch.allclose(whole, parts, rtol=0, atol=1e-12 * whole.norm())


def test_fingerprints_differ_by_coefficients_rates_stale_parts_and_shape():
    due = expected(TWO_WINDOWS.with_(stale=True))
    changed = [
        Fingerprint(due.coefficients + 0.01, due.residuals, due.rates, due.row_epochs, due.columns, due.stale),
        Fingerprint(due.coefficients, due.residuals, due.rates / 2, due.row_epochs, due.columns, due.stale),
        Fingerprint(due.coefficients, due.residuals, due.rates, due.row_epochs, due.columns, due.stale + 1),
        Fingerprint(due.coefficients, due.residuals + 1, due.rates, due.row_epochs, due.columns, due.stale),
        Fingerprint(due.coefficients[:1], due.residuals[:1], due.rates[:1], (0,), due.columns, due.stale[:1]),
    ]
    assert due.same_as(due)
    assert not any(due.same_as(other) for other in changed)


def test_as_text_shows_fractions_in_columns():
    assert expected(Problem(accumulation_steps=2, epochs=((2, 2, 1, 3),))).as_text() == (
        "update  1  1/2 1/2   ·   ·\nupdate  2    ·   · 1/4 3/4"
    )


def test_as_text_shows_the_stale_gradient_in_the_first_column():
    problem = Problem(accumulation_steps=2, epochs=((2, 2),), width=8, stale=True)
    assert fingerprint(GALLERY["stale-start"], problem).as_text() == "update  1    1 1/2 1/2"


@given(st.fractions(max_denominator=32))
def test_simple_fractions_are_written_as_such(value):
    assume(1e-3 < abs(value) < 1e6)
    assert Fraction(as_fraction(float(value))) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, ""), (1e-9, ""), (0.123456, "0.123"), (1.0, "1"), (-0.25, "-1/4"), (-math.inf, "-inf"), (math.nan, "nan")],
)
def test_other_numbers_are_written_with_three_digits(value, text):
    assert as_fraction(value) == text
