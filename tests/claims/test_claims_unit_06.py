"""The ledger's rows on clipping, mixed precision and rounding. Every experiment could come out the other way."""

from __future__ import annotations

import pytest
import torch
from experiments_unit_06 import (
    clipped_window,
    difference,
    large_batch,
    large_batch_clipped,
    norm_between,
    rounding,
    row_17,
    row_18,
    row_19,
    same,
)

from gradaccum.phenomena.order_of_operations import PRESETS, Settings, compute


def test_row_17_the_mean_is_clipped_with_the_same_threshold_the_sum_with_n_times_it():
    assert row_17().verdict == "true, and the threshold can be said"
    between = norm_between()
    assert same(clipped_window(4, between), large_batch()), "a mean below the threshold is left alone"
    assert clipped_window(1, between).norm() == pytest.approx(between, rel=1e-5), "and the same number clips the sum"


def test_row_17_clipping_each_micro_batch_gives_another_direction():
    pieces, due = clipped_window(4, 0.5, each=True), large_batch_clipped(0.5)
    assert torch.nn.functional.cosine_similarity(pieces, due, dim=0) < 0.99


def test_row_18_the_order_matters_and_one_overflow_skips_the_whole_window():
    assert row_18().verdict == "needs care"
    overflow = compute(PRESETS["Overflow"])
    assert overflow.update.tolist() == [0, 0]
    assert overflow.scale == overflow.settings.scale / 2


def test_row_18_without_a_scale_the_order_of_clipping_and_unscaling_does_not_show():
    assert compute(Settings(scale=1)).right
    assert not compute(Settings()).right


@pytest.mark.slow
def test_row_19_the_error_grows_in_bfloat16_and_is_negligible_in_float32():
    assert row_19().verdict == "in low-precision sums only"
    assert rounding(4, torch.bfloat16) < rounding(64, torch.bfloat16) < rounding(1024, torch.bfloat16)
    assert rounding(64, torch.float32) < 1e-6 < difference(torch.tensor([1.001]), torch.tensor([1.0]))
