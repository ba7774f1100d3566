"""The ledger's rows on memory and speed. Every experiment could come out the other way."""

from __future__ import annotations

import pytest
from experiments_unit_02 import (
    alive_between_micro_batches,
    alive_between_tokens,
    count_work,
    measure,
    peak_and_gradient,
    row_8,
    row_9,
    row_10,
    row_11,
    row_34,
)


def test_row_8_only_activations_shrink_so_four_micro_batches_need_more_than_a_quarter():
    assert row_8().verdict == "partly true"
    one, four = (measure(n, "AdamW", checkpointing=False) for n in (1, 4))
    assert (four.weights, four.gradients, four.state) == (one.weights, one.gradients, one.state)
    assert one.total / four.total < 3
    assert peak_and_gradient(1, False)[0] / peak_and_gradient(4, False)[0] < 3.9, "and so says another instrument"


def test_row_9_training_keeps_no_cache_between_micro_batches_where_generation_does():
    assert row_9().verdict == "does not apply"
    assert set(alive_between_micro_batches(4)) == {0}
    first, second, *_ = alive_between_tokens(4)
    assert second == 2 * first > 0


@pytest.mark.slow
def test_row_10_the_arithmetic_is_the_same_for_every_n_but_not_the_number_of_calls():
    assert row_10().verdict == "conditional"
    assert count_work(1).flops == count_work(16).flops > 0
    assert count_work(16).operations > 5 * count_work(1).operations


@pytest.mark.slow
def test_row_11_accumulating_takes_more_calls_than_one_batch_and_fewer_than_an_update_after_each():
    assert row_11().verdict == "a myth"


def test_row_34_checkpointing_and_accumulation_save_independently_at_the_same_gradient():
    assert row_34().verdict == "true"
