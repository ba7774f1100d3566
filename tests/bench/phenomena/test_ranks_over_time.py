"""Ranks over time: counted all-reduces, and the times a model makes of them."""

from __future__ import annotations

import itertools

import pytest

from gradaccum.collectives import ALL_REDUCE
from gradaccum.phenomena.ranks_over_time import (
    BACKWARD,
    FORWARD,
    MICRO_BATCHES,
    PLACES,
    PRESETS,
    RANKS,
    STEP,
    Settings,
    compute,
    describe,
)

ONE = (FORWARD + BACKWARD) * MICRO_BATCHES


@pytest.mark.parametrize("n", [1, 2, 4])
def test_all_reduces_per_window_are_one_or_n_or_none(n):
    counted = compute(Settings(accumulation_steps=n)).counted
    per_window = {place: len(one.bytes) * n / MICRO_BATCHES for place, one in counted.items()}
    assert per_window == {"right": 1, "sync-every": n, "sync-around-backward-only": n, "never-sync": 0}
    assert len({size for one in counted.values() for size in one.bytes}) == 1


def test_an_all_reduce_follows_the_last_backward_of_a_window_and_comes_before_its_update():
    kinds = compute(Settings(place="right", accumulation_steps=2)).own.kinds
    assert kinds == ("forward", "backward", "forward", "backward", ALL_REDUCE, "step") * 2


def test_blocks_follow_each_other_without_gaps():
    blocks = compute(Settings()).blocks
    assert all(a.start + a.length == pytest.approx(b.start) for a, b in itertools.pairwise(blocks))


def test_time_is_that_of_one_rank_and_of_the_all_reduces():
    slow, fixed = compute(Settings()), compute(PRESETS["Fix"])
    assert slow.time == pytest.approx(ONE + STEP + MICRO_BATCHES * slow.settings.all_reduce)
    assert fixed.time == pytest.approx(ONE + STEP + fixed.settings.all_reduce)
    assert slow.speed < fixed.speed < RANKS


def test_ranks_that_share_nothing_are_fastest_and_drift_apart():
    drifting = compute(PRESETS["Drift"])
    assert drifting.speed == pytest.approx(RANKS)
    assert drifting.apart > 0.1
    assert f"{drifting.apart:.0%} off the mean over ranks" in describe(drifting)


@pytest.mark.parametrize("place", [place for place in PLACES.values() if place != "never-sync"])
def test_an_update_of_ranks_that_share_averages_b_times_n_times_w_samples(place):
    assert "2 × 2 × 4 = 16 samples" in describe(compute(Settings(place, 2)))
