"""Killed and resumed: what the picture says, in words."""

from __future__ import annotations

import pytest

from gradaccum.phenomena.resume import LOST, MOST, PRESETS, PROBLEM, Settings, compute, describe


def test_it_opens_on_a_checkpoint_in_the_middle_of_a_window_that_loses_two_gradients():
    result = compute(PRESETS["Break"])
    assert (result.place, result.lost, result.identical) == (6, 2, False)
    assert "What waited in .grad, 2 of the window's gradients, is in no state_dict." in describe(result)


def test_a_checkpoint_after_the_update_is_the_same_run_to_the_last_bit():
    result = compute(PRESETS["Fix"])
    assert (result.place, result.lost, result.identical) == (4, 0, True)
    assert "2 micro-batches are computed again, and all 16 losses" in describe(result)


def test_a_kill_right_after_an_update_costs_nothing():
    assert "nothing is computed twice" in describe(compute(Settings("update", 8)))


def test_a_kill_before_the_first_update_starts_over():
    result = compute(Settings("update", 2))
    assert result.place == 0
    assert "before any checkpoint was made, the run begins again" in describe(result)


def test_losing_the_gradients_of_an_overflowing_window_changes_nothing():
    lucky = [k for k in range(1, PROBLEM.total) if PROBLEM.is_open(k) and compute(Settings("micro-batch", k)).identical]
    assert lucky
    assert all("luck" in describe(compute(Settings("micro-batch", k))) for k in lucky)


def test_the_caption_names_what_is_missing():
    assert "without the optimizer state" in describe(compute(PRESETS["Forget the optimizer"]))
    assert "without the torch's random numbers" not in describe(compute(Settings("update", 6, "rng")))
    assert "without torch's random numbers" in describe(compute(Settings("update", 6, "rng")))


@pytest.mark.parametrize("lacks", LOST.values())
def test_no_distance_leaves_its_picture(lacks):
    kills = [Settings(every, kill, lacks) for every in ("update", "micro-batch") for kill in range(1, PROBLEM.total)]
    assert max(float(max(compute(kill).distances)) for kill in kills) < MOST
