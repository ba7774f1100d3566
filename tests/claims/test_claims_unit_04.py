"""The ledger's rows on training loops. Every experiment could come out the other way."""

from __future__ import annotations

import pytest
from experiments_unit_04 import (
    PROBLEM,
    STEPS,
    backwards_before_each_update,
    distance_of_runs,
    micro_batches_per_update,
    row_5,
    row_6,
    row_7,
    row_37,
    row_sums,
)


def test_a_right_loop_passes_every_one_of_these_experiments():
    assert micro_batches_per_update("right") == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert row_sums("right") == pytest.approx([1, 1])
    assert distance_of_runs("right") < 1e-12


def test_row_5_clearing_before_every_backward_leaves_the_last_micro_batch_of_each_window():
    assert row_5().verdict == "true"
    assert distance_of_runs("zero-every") > 0.01


def test_row_6_an_update_after_every_micro_batch_accumulates_nothing():
    assert row_6().verdict == "true"
    assert distance_of_runs("step-every") > 0.01


def test_row_7_printed_corrections_lack_the_division_and_are_right_at_the_rate_over_n_only():
    assert row_7().verdict == "false"
    assert row_sums("printed") == pytest.approx([STEPS, STEPS])
    assert distance_of_runs("printed", rate=PROBLEM.lr / STEPS) < 1e-12


def test_row_37_no_update_comes_before_n_micro_batches_are_through():
    assert row_37().verdict == "true"
    assert backwards_before_each_update("step-every") == [1] * (2 * STEPS)
