"""Loops over tokens: each counts what its name says."""

from __future__ import annotations

import math

import pytest
import torch

from gradaccum.fingerprint import batch_gradient, expected, fingerprint
from gradaccum.loops.tokens import TOKEN_LOOPS, as_loop
from gradaccum.problems.tokens import TokenProblem, one_large_batch
from gradaccum.recording import record

UNEVEN = ((2,), (2, 4), (1, 2, 6), (7, 8), (3,), (1, 4))
EQUAL = ((4,), (1, 3), (2, 2), (4,))
PROBLEM = TokenProblem(seed=5, lengths=(UNEVEN, UNEVEN[:3]), width=8, stale=True)
COUNTS = {
    "right": {},
    "sequences-for-tokens": {"weigh_by": "sequences"},
    "padding-counted": {"weigh_by": "positions", "mean_over": "positions"},
}


@pytest.mark.parametrize("slug", COUNTS)
def test_a_loop_is_right_on_the_problem_that_counts_as_it_does(slug):
    problem = PROBLEM.with_(**COUNTS[slug])
    assert fingerprint(as_loop(TOKEN_LOOPS[slug]), problem).same_as(expected(problem))


@pytest.mark.parametrize("slug", sorted(TOKEN_LOOPS.keys() - {"right", "ignore-index-fixed", "empty-skipped"}))
def test_what_a_wrong_loop_counts_shows_where_tokens_are_unequal(slug):
    assert not fingerprint(as_loop(TOKEN_LOOPS[slug]), PROBLEM).same_as(expected(PROBLEM))


def test_the_mean_of_means_hides_where_micro_batches_hold_equally_many_tokens():
    problem = PROBLEM.with_(lengths=(EQUAL,))
    assert fingerprint(as_loop(TOKEN_LOOPS["token-mean-of-means"]), problem).same_as(expected(problem))


def test_the_right_loop_s_updates_and_losses_are_those_of_large_batches():
    run, model = record(as_loop(TOKEN_LOOPS["right"]), PROBLEM), PROBLEM.build_model()
    windows = [PROBLEM.batches(0)[:4], PROBLEM.batches(0)[4:], PROBLEM.batches(1)]
    for window, gradient in zip(windows, run.gradients, strict=True):
        assert torch.allclose(gradient, batch_gradient(model, PROBLEM.loss_fn, one_large_batch(window)), rtol=0, atol=1e-14)
    losses = [PROBLEM.loss_fn(model(x), y).item() for x, y in map(one_large_batch, windows)]
    assert [*run.returned[0], *run.returned[1]] == pytest.approx(losses)


def test_a_window_without_tokens_leaves_a_right_loop_s_parameters_alone():
    problem = TokenProblem(lengths=(((0,), (0, 0)),), accumulation_steps=2)
    run = record(as_loop(TOKEN_LOOPS["right"]), problem, frozen=False)
    assert not run.movements.any()
    assert run.returned == ([0.0],)


@pytest.mark.parametrize("slug", ["token-mean-of-means", "sequences-for-tokens"])
def test_a_mean_over_no_token_makes_the_reported_loss_nan_but_not_the_parameters(slug):
    run = record(as_loop(TOKEN_LOOPS[slug]), TokenProblem(lengths=(((0,), (3,)),), accumulation_steps=2), frozen=False)
    assert math.isnan(run.returned[0][0])
    assert run.parameters.isfinite().all()


def test_an_ignore_index_is_passed_on_and_one_wrong_loop_disregards_it():
    problem = PROBLEM.with_(ignore_index=0)
    assert fingerprint(as_loop(TOKEN_LOOPS["right"], 0), problem).same_as(expected(problem))
    counts_padding = problem.with_(weigh_by="positions", mean_over="padding too")
    assert fingerprint(as_loop(TOKEN_LOOPS["ignore-index-fixed"], 0), counts_padding).same_as(expected(counts_padding))


def test_skipping_empty_micro_batches_shifts_the_windows():
    lengths = ((3,), (0,), (2,), (4,))
    problem = TokenProblem(lengths=(lengths,), accumulation_steps=2, width=8)
    shifted = TokenProblem(lengths=(((3,), (2,), (4,)),), accumulation_steps=2, width=8)
    skipping = record(as_loop(TOKEN_LOOPS["empty-skipped"]), problem)
    assert len(skipping.gradients) == len(expected(shifted).coefficients)
    assert not torch.allclose(skipping.gradients, record(as_loop(TOKEN_LOOPS["right"]), problem).gradients)
