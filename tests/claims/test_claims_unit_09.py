"""The ledger's rows on contrastive losses. Every experiment could come out the other way."""

from __future__ import annotations

import pytest
from experiments_unit_09 import (
    EQUAL,
    STEPS,
    errors,
    graphs_kept,
    passes,
    peak,
    row_27,
    row_28,
    row_29,
    row_30,
    times_due,
)

from gradaccum.loops.contrastive import GALLERY, cached_features, one_large_batch
from gradaccum.phenomena import contrastive_negatives as cn

pytestmark = pytest.mark.slow  # Part II: marked in the whole suite


def test_row_27_cached_features_need_a_pass_without_gradients_and_one_with_them():
    assert row_27().verdict == "true of cached features"
    assert passes(cached_features) == (1, 1)
    assert passes(one_large_batch) == passes(graphs_kept) == (0, 1)
    assert peak(graphs_kept) > 3 * peak(cached_features)


@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_row_28_features_of_the_window_are_kept_whatever_n_is(n):
    assert row_28().verdict == "true, and they are small"
    cost = cn.measure("cached", n)
    assert cost.features == cn.PAIRS * cn.PROBLEM.width * 2 * 8
    assert cost.activations * n == cost.large_activations


def test_row_29_encoders_come_out_exact_and_logit_scale_n_times_too_large():
    assert row_29().verdict == "true of the encoders, false of logit_scale"
    assert times_due(GALLERY["temperature-times-n"]) == pytest.approx({"images": 1, "texts": 1, "scale": STEPS})
    assert times_due(GALLERY["window-loss-over-n"]) == pytest.approx({"images": 1 / STEPS, "texts": 1 / STEPS, "scale": 1})
    assert max(errors(cached_features)) < EQUAL


def test_row_30_distillation_can_be_accumulated_with_cached_features():
    assert row_30().verdict == "false"
