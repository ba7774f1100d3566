"""The ledger's rows on accumulating a gradient. Every experiment could come out the other way."""

from __future__ import annotations

import pytest
from experiments_unit_03 import (
    ROUNDING,
    after_each_backward,
    difference_with,
    distance_of_runs,
    mean_of_means,
    row_1,
    row_2,
    row_3,
)
from torch import nn

from gradaccum.loops import no_scale, right


def test_row_1_small_gradients_add_up_to_the_large_one_under_conditions():
    assert row_1().verdict == "conditional"
    assert difference_with(nn.LayerNorm(8)) < ROUNDING
    assert difference_with(nn.BatchNorm1d(8)) > 0.01
    assert mean_of_means() > 0.01


def test_row_2_cuts_of_the_same_batch_are_the_same_update_if_averaged_or_at_the_rate_over_n():
    assert row_2().verdict == "conditional"
    assert distance_of_runs(right) < ROUNDING
    assert distance_of_runs(no_scale) > 1
    assert distance_of_runs(no_scale, rate_over_n=True) < ROUNDING


def test_row_3_backward_adds():
    assert row_3().verdict == "true"
    assert after_each_backward(4)[-1] == pytest.approx(20)
