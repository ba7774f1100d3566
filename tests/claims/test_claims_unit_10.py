"""The ledger's rows on several ranks. Every experiment could come out the other way."""

from __future__ import annotations

import pytest
from experiments_unit_10 import STEPS, carried, row_32, row_33, row_38

from gradaccum.phenomena.ranks_over_time import LINKS, RANKS, Settings, compute

pytestmark = pytest.mark.slow  # Part II: marked in the whole suite


def test_row_32_one_all_reduce_per_window_needs_the_forward_inside_no_sync():
    assert row_32().verdict == "true with the forward inside"
    assert carried("right", 4)[0] == 2, "eight micro-batches are two windows"
    assert carried("sync-around-backward-only", 4)[0] == carried("sync-every", 4)[0] == 8


def test_row_32_sharing_late_or_often_trains_the_same_model_and_never_sharing_two():
    right, often, never = (carried(slug, 4) for slug in ("right", "sync-every", "never-sync"))
    assert right[2] == right[3] == pytest.approx(often[2], rel=1e-5)
    assert never[0] == 0
    assert never[2] != pytest.approx(never[3], rel=1e-2)


def test_row_33_calls_and_bytes_fall_n_times():
    assert row_33().verdict == "N times, not a fixed factor"
    assert {n: carried("sync-every", n)[1] / carried("right", n)[1] for n in STEPS} == {n: n for n in STEPS}


def test_row_38_ranks_gain_what_the_link_leaves_of_them():
    assert row_38().verdict == "true where the link is fast, or the window long"
    slow, fast = max(LINKS.values()), min(LINKS.values())
    assert compute(Settings("right", 1, slow)).speed < compute(Settings("right", 4, slow)).speed < RANKS
    assert compute(Settings("sync-every", 4, slow)).speed < compute(Settings("sync-every", 4, fast)).speed
