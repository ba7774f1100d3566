"""The ledger's rows on running it, and one beyond the sources. Every experiment could come out the other way."""

from __future__ import annotations

import pytest
from experiments_unit_11 import BUDGET, largest, peak, row_31, row_35, row_36, steps_needed

from gradaccum.phenomena.resume import LOST, PROBLEM, Settings, compute

pytestmark = pytest.mark.slow  # Part II: marked in the whole suite


def test_row_31_the_peak_does_not_know_whether_n_is_a_power_of_two():
    assert row_31().verdict == "no effect"
    assert peak(16, 3) == peak(16, 4) == peak(16, 7) > peak(8, 4)
    assert largest(48, 16, powers=True) < largest(48, 16, powers=False)


def test_row_35_only_checkpoints_between_updates_are_whole():
    assert row_35().verdict == "true"


def test_row_36_other_techniques_first_means_fewer_steps():
    assert row_36().verdict == "sound advice"
    assert steps_needed(BUDGET, checkpointing=True) < steps_needed(BUDGET, checkpointing=False)


@pytest.mark.parametrize("kill", [k for k in range(1, PROBLEM.total) if PROBLEM.is_open(k)])
def test_beyond_the_sources_a_run_resumed_in_mid_window_loses_the_gradients_that_waited(kill):
    broken, whole = compute(Settings("micro-batch", kill)), compute(Settings("update", kill))
    assert broken.lost > 0
    assert broken.identical == broken.skipped, "a window that overflows has no update to miss them"
    assert whole.identical
    assert whole.place < kill


@pytest.mark.parametrize("piece", [piece for piece in LOST.values() if piece != "nothing"])
def test_beyond_the_sources_every_piece_of_the_state_matters_at_some_kill(piece):
    kills = [k for k in PROBLEM.boundaries() if 0 < k < PROBLEM.total]
    assert any(not compute(Settings("update", kill, piece)).identical for kill in kills)
