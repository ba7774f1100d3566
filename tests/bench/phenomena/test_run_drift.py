"""Where a run parts from the large batch: never, at once, at a leftover, after a stop."""

from __future__ import annotations

import pytest

from gradaccum.phenomena.run_drift import LOOPS, PER_EPOCH, PRESETS, STOP, Settings, compute, describe


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
@pytest.mark.parametrize("max_norm", [100.0, 0.1])
def test_the_right_loop_never_leaves_the_path_of_the_large_batch(optimizer, max_norm):
    result = compute(Settings("right", optimizer, max_norm))
    assert result.left_at is None
    assert result.losses.allclose(result.large_losses, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loop", "window"),
    [
        *(("token-mean-of-means", 1), ("padding-counted", 1), ("no-scale", 1), ("schedule-per-micro-batch", 2)),
        *(("tail-scale", PER_EPOCH), ("tail-dropped", PER_EPOCH), ("optimizer", STOP + 1), ("place", STOP + 1)),
    ],
)
@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_wrong_loop_leaves_the_right_path_at_the_window_that_shows_its_mistake(loop, window, optimizer):
    assert compute(Settings(loop, optimizer)).left_at == window


def test_clipping_each_micro_batch_is_hidden_until_the_threshold_is_reached():
    assert compute(PRESETS["Hide it"]).left_at is None
    assert "does not show" in describe(compute(PRESETS["Hide it"]))
    assert compute(Settings("clip-per-micro-batch", max_norm=0.1)).left_at == 1


def test_the_opening_s_losses_are_as_close_as_the_prediction_says():
    result = compute(Settings())
    assert 0 < abs(float(result.losses[-1] - result.large_losses[-1])) < 0.01
    assert 3.05 < float(result.losses[-1]) < 3.2
    assert f"part at window {PER_EPOCH}, a leftover" in describe(result)


def test_every_loop_has_a_name():
    assert len(LOOPS) == len(set(LOOPS.values()))
