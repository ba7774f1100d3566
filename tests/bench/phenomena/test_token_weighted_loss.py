"""The explorable on token-weighted losses: its numbers and its sentences."""

from __future__ import annotations

import pytest

from gradaccum import phenomena

module = phenomena.load("token_weighted_loss")
UNEQUAL = [lengths for lengths in module.LENGTHS if lengths != "equally many"]


@pytest.mark.parametrize("lengths", module.LENGTHS)
def test_every_window_holds_the_same_number_of_tokens(lengths):
    assert sum(module.compute(module.Settings(lengths=lengths)).tokens) == 32


@pytest.mark.parametrize("lengths", module.LENGTHS)
def test_the_token_mean_is_that_of_one_large_batch(lengths):
    result = module.compute(module.Settings(lengths=lengths, average="right"))
    assert result.worth == pytest.approx((1,) * module.STEPS)
    assert result.error < 1e-12
    assert result.loss == pytest.approx(result.right_loss)
    assert "counts alike" in module.describe(result)


@pytest.mark.parametrize("lengths", UNEQUAL)
def test_in_the_mean_of_means_a_token_counts_for_more_the_fewer_there_are(lengths):
    result = module.compute(module.Settings(lengths=lengths))
    assert result.weights == pytest.approx((1 / module.STEPS,) * module.STEPS)
    assert sorted(result.worth, reverse=True) == pytest.approx([8 / tokens for tokens in sorted(result.tokens)])
    assert f"{max(result.tokens) / min(result.tokens):.3g} times as much" in module.describe(result)
    assert result.error > 0.01


def test_with_equally_many_tokens_the_mean_of_means_is_right():
    result = module.compute(module.PRESETS["Hide it"])
    assert result.error < 1e-12
    assert "counts alike" in module.describe(result)


@pytest.mark.parametrize("lengths", module.LENGTHS)
def test_averaged_over_all_positions_every_token_counts_equally_and_too_little(lengths):
    result = module.compute(module.Settings(lengths=lengths, average="padding-counted"))
    assert max(result.worth) == pytest.approx(min(result.worth))
    assert max(result.worth) < 1
    assert result.error == pytest.approx(1 - max(result.worth))
    assert f"{result.error:.0%} too short" in module.describe(result)
