"""The ledger's rows on learning rates and effective batches. Every experiment could come out the other way."""

from __future__ import annotations

import pytest
from experiments_unit_05 import (
    best_rate,
    difference_at_equal_effective_batch,
    distance_to_large_batch,
    factors,
    length_on_top_of_missing_scale,
    row_12,
    row_13,
    row_14,
    row_15,
    row_26,
    updates_of_warmup,
    variance_ratios,
)

from gradaccum.loops.schedules import schedule_before_step, schedule_never, schedule_per_micro_batch, scheduled


def test_row_12_no_other_rate_at_the_same_effective_batch_and_a_higher_one_at_a_larger():
    assert row_12().verdict == "both"
    assert difference_at_equal_effective_batch() < 1e-12
    assert best_rate(128) > 2 * best_rate(8)


@pytest.mark.slow
def test_row_13_the_linear_rule_holds_for_sgd_within_limits_and_not_for_adam():
    assert row_13().verdict == "heuristic"
    assert factors("SGD", 16)["linear"] < factors("SGD", 16)["sqrt"] < factors("SGD", 16)["none"]
    assert factors("SGD", 64)["linear"] > 100
    assert factors("Adam", 16)["sqrt"] < factors("Adam", 16)["linear"] < factors("Adam", 16)["none"]
    assert length_on_top_of_missing_scale(4) == pytest.approx(16)


@pytest.mark.slow
def test_row_14_the_variance_falls_as_one_over_the_batch_for_independent_samples_and_faster_without_replacement():
    assert row_14().verdict == "true of independent samples"
    assert variance_ratios(replace=True)[128] == pytest.approx(1, abs=0.1)
    assert variance_ratios(replace=False)[128] == pytest.approx(128 / 255, abs=0.1)


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
def test_row_15_only_a_schedule_that_counts_updates_trains_like_large_batches():
    assert row_15().verdict == "true"
    for loop in (schedule_per_micro_batch, schedule_before_step, schedule_never):
        assert distance_to_large_batch(loop) > 0.01
    assert updates_of_warmup(scheduled) == 8
    assert updates_of_warmup(schedule_per_micro_batch) == 3


def test_row_26_the_effective_batch_is_the_product_in_the_table_and_in_the_gradient():
    assert row_26().verdict == "true"
