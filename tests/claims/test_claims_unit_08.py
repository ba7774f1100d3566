"""The ledger's rows on unequal micro-batches. Every experiment could come out the other way."""

from __future__ import annotations

import pytest
from experiments_unit_08 import EQUAL, UNEQUAL, row_39, row_40, token_error, weighted_error

pytestmark = pytest.mark.slow  # Part II: marked in the whole suite


def test_row_39_the_mean_of_means_is_the_token_mean_only_where_micro_batches_hold_equally_many():
    assert row_39().verdict == "only with equal numbers of tokens"
    assert token_error("right", EQUAL) < 1e-12
    assert token_error("sequences-for-tokens", EQUAL) > 0.01, "their sequences are as unequal as ever"


def test_row_39_padding_in_the_denominator_is_wrong_even_with_equally_many_tokens():
    assert token_error("padding-counted", EQUAL) > 0.01
    assert token_error("padding-counted", UNEQUAL) > 0.01


def test_row_40_class_weights_make_micro_batches_of_one_size_unequal():
    assert row_40().verdict == "false"
    assert weighted_error("means") > 0.01
    assert weighted_error("targets") > 1, "weights are not counts"
