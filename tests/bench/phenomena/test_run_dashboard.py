"""The dashboard: what is logged wrongly differs in the panel it is about, and in no other."""

from __future__ import annotations

import pytest

from gradaccum.phenomena.run_dashboard import BATCH, MISTAKES, UPDATES, Settings, compute, describe, log, train
from gradaccum.phenomena.run_dashboard import PANELS as DRAWN

PANELS = {
    "scaled": ("losses",),
    "last": ("losses",),
    "steps": ("losses",),
    "one": ("speeds",),
    "graphs": ("kilobytes",),
    "after": ("kilobytes",),
    "batch": ("batches",),
    "none": (),
}
HIDDEN_WITH_ONE = {"scaled", "last", "steps", "one", "batch", "none"}


@pytest.mark.parametrize("n", [2, 4, 8])
@pytest.mark.parametrize("mistake", MISTAKES.values())
def test_a_mistake_shows_in_its_panel_and_in_no_other(mistake, n):
    assert compute(Settings(mistake, n)).wrong_panels == PANELS[mistake]


@pytest.mark.parametrize("mistake", MISTAKES.values())
def test_without_accumulation_only_the_mistakes_about_memory_show(mistake):
    assert (not compute(Settings(mistake, 1)).wrong_panels) == (mistake in HIDDEN_WITH_ONE)
    assert ("with N = 1 you cannot see it" in describe(compute(Settings(mistake, 1)))) == (
        mistake in HIDDEN_WITH_ONE - {"none"}
    )


@pytest.mark.parametrize("n", [2, 4, 8])
def test_the_loss_of_a_right_log_does_not_depend_on_n(n):
    assert log("none", n).losses == pytest.approx(log("none", 1).losses, rel=1e-3)
    assert log("none", n).batches == (BATCH,) * UPDATES


@pytest.mark.parametrize("n", [2, 4, 8])
def test_a_scaled_loss_looks_n_times_as_good(n):
    result = compute(Settings("scaled", n))
    assert [n * loss for loss in result.logged.losses] == pytest.approx(result.right.losses)
    assert f"1/{n} of the true" in describe(result)


def test_more_steps_cost_speed_and_save_memory():
    speeds, peaks = zip(*((log("none", n).speeds[-1], log("none", n).kilobytes[-1]) for n in (1, 2, 4, 8)), strict=True)
    assert list(speeds) == sorted(speeds, reverse=True)
    assert list(peaks) == sorted(peaks, reverse=True)


def test_losses_that_keep_their_graphs_need_more_memory_with_every_update():
    peaks = [update.peak for update in train(4, True)]
    assert peaks == sorted(set(peaks))
    assert peaks[-1] > 10 * train(4, False)[-1].peak


@pytest.mark.parametrize("n", [1, 2, 4, 8])
@pytest.mark.parametrize("mistake", MISTAKES.values())
def test_everything_that_is_drawn_lies_within_its_panel(mistake, n):
    result = compute(Settings(mistake, n))
    for name, panel in DRAWN.items():
        low, high = panel.limits
        logged = [
            found for step, found in zip(result.logged.steps, getattr(result.logged, name), strict=True) if step <= UPDATES
        ]
        assert all(low < value < high for value in (*logged, *getattr(result.right, name))), name
