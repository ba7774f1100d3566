"""The gradient of a batch is the average of its samples' gradients, and the picture says so with measured numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradaccum.phenomena.sample_gradients import ACROSS, PRESETS, UP, Settings, compute, describe

SIZES = (1, 2, 4, 8, 16, 32, 64)


@pytest.mark.slow
@given(st.sampled_from(SIZES), st.integers(1, 20))
def test_the_average_is_what_backward_says_for_every_batch(size, batch):
    result = compute(Settings(batch_size=size, batch=batch))
    assert len(result.members.unique()) == size
    assert result.difference < 1e-14


@pytest.mark.parametrize("size", SIZES[1:])
def test_a_sum_is_as_many_times_too_long_as_there_are_samples(size):
    result = compute(Settings(batch_size=size, divide=False))
    assert result.combined.tolist() == pytest.approx((size * result.by_backward).tolist())
    assert f": {size} times the gradient of the batch" in describe(result)


def test_larger_batches_lie_closer_to_the_gradient_of_all_samples():
    distances = [compute(Settings(batch_size=size)).typical_distance for size in SIZES]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-14
    # Drawn without replacement: the variance is that of single samples times (64 - B) / (63 B).
    due = [distances[0] * ((64 - size) / (63 * size)) ** 0.5 for size in SIZES]
    assert distances[1:-1] == pytest.approx(due[1:-1], rel=0.15)


def test_the_caption_has_the_picture_s_numbers():
    result = compute(Settings())
    lengths = result.each[result.members].norm(dim=1)
    assert f"{float(lengths.min()):.1f} to {float(lengths.max()):.1f} long" in describe(result)
    assert f"{result.typical_distance:.2f} away from the gradient of all 64 samples" in describe(result)
    assert "only one batch of all samples" in describe(compute(PRESETS["All samples"]))


def test_every_sample_s_gradient_is_inside_the_picture():
    result = compute(Settings())
    assert all(ACROSS[0] < dw < ACROSS[1] and UP[0] < db < UP[1] for dw, db in result.each.tolist())
