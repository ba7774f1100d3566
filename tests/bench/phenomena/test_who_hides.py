"""Who hides a wrong scale is measured against one large batch."""

from __future__ import annotations

import pytest

from gradaccum.phenomena.who_hides import OPTIMIZERS, VISIBLE, Settings, compute, describe


@pytest.mark.parametrize("n", [2, 4, 8])
@pytest.mark.parametrize("updates", [1, 3, 10])
def test_without_a_mistake_every_run_ends_where_the_large_batch_ends(n, updates):
    result = compute(Settings("right", n, updates))
    assert max(result.differences.values()) < 1e-12
    assert "0e+00" not in describe(result)


@pytest.mark.parametrize("mistake", ["none", "twice"])
@pytest.mark.parametrize("n", [2, 4, 8])
def test_adaptive_optimizers_hide_a_wrong_scale_and_sgd_shows_it(mistake, n):
    differences = compute(Settings(mistake, n, 10)).differences
    shown = {name for name, value in differences.items() if value >= VISIBLE}
    assert {"RMSprop", "AdamW"} == set(OPTIMIZERS) - shown - {"SGD + clipping"}


@pytest.mark.parametrize("n", [2, 4, 8])
def test_the_first_update_of_sgd_is_n_times_as_long_and_a_clipped_one_is_not(n):
    differences = compute(Settings("none", n, 1)).differences
    assert differences["SGD"] == pytest.approx(n - 1)
    assert differences["SGD + clipping"] < VISIBLE


def test_clipping_hides_a_wrong_scale_only_while_it_acts():
    early, late = (compute(Settings("none", 4, updates)) for updates in (1, 10))
    assert early.differences["SGD + clipping"] < VISIBLE < late.differences["SGD + clipping"]
    assert "The mistake does not show under SGD + clipping" in describe(early)
    assert "5% (SGD + clipping)" in describe(late)
