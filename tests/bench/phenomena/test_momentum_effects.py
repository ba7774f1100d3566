"""Momentum: accumulation is the large batch, an update per micro-batch forgets N times as fast in samples."""

from __future__ import annotations

import pytest

from gradaccum.phenomena.momentum_effects import BATCH, SAME, SIZE_OF_ONE, STEPS, WINDOWS, Settings, compute, describe, memory


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("axis", ["updates", "samples"])
def test_accumulation_ends_where_the_large_batch_ends(beta, axis):
    result = compute(Settings("accumulate", beta, axis))
    assert result.difference < SAME
    assert result.losses.allclose(result.large_losses, rtol=1e-9)


@pytest.mark.parametrize("loop", ["every", "sum"])
@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
def test_loops_other_than_accumulation_do_not_end_where_the_large_batch_ends(loop, beta):
    assert compute(Settings(loop, beta)).difference > 0.01


def test_a_gradient_is_remembered_for_n_times_as_many_samples_with_large_batches():
    result = compute(Settings("every", 0.9, "samples"))
    halved, large = (int((weights <= 0.5).nonzero()[0]) for weights in (result.memory, result.large_memory))
    assert halved * SIZE_OF_ONE * STEPS == large * BATCH
    assert f"halved after {halved * SIZE_OF_ONE} samples, and after {large * BATCH} with the large batch" in describe(result)


def test_counted_in_updates_both_runs_forget_equally_fast():
    assert "halved after 7 updates, and after 7 with the large batch" in describe(compute(Settings("every", 0.9, "updates")))
    assert "halved after 1 update, and after 1 with the large batch" in describe(compute(Settings("every", 0.5, "updates")))


@pytest.mark.parametrize("beta", [0.5, 0.9])
def test_beta_to_the_power_of_n_forgets_in_one_update_what_beta_forgets_in_n(beta):
    assert memory(beta**STEPS, 12)[1] == pytest.approx(memory(beta, 12)[STEPS])


def test_an_update_per_micro_batch_makes_n_times_as_many_updates():
    result = compute(Settings())
    assert len(result.losses) - 1 == STEPS * WINDOWS == STEPS * (len(result.large_losses) - 1)


def test_without_the_division_momentum_carries_the_loss_up_again():
    assert "and the loss climbs from" in describe(compute(Settings("sum", 0.9)))
    assert "climbs" not in describe(compute(Settings("sum", 0.0)))
