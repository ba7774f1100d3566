"""What was recorded on a GPU is shown as it was recorded, and agrees with what unit 02 teaches about it."""

from __future__ import annotations

import itertools

import pytest

from gradaccum.phenomena.real_gpu import CUTS, GB, PRESETS, SEQUENCES, Settings, compute, describe, recording


def test_every_cut_of_an_update_was_recorded():
    assert tuple(one.accumulation_steps for one in recording().measured) == CUTS
    assert all(one.size * one.accumulation_steps == SEQUENCES for one in recording().measured)


def test_memory_is_a_line_whose_fixed_part_is_known():
    small, *others = recording().measured
    per_sample = (small.bytes - recording().fixed_bytes) / small.size
    for one in others:
        assert one.bytes == pytest.approx(recording().fixed_bytes + per_sample * one.size, rel=0.08)


def test_smaller_micro_batches_need_less_memory_and_are_slower():
    measured = recording().measured
    for smaller, larger in itertools.pairwise(measured):
        assert smaller.bytes < larger.bytes
        assert smaller.tokens_per_second < larger.tokens_per_second


def test_what_the_notebook_says_of_it_is_what_was_recorded():
    one, two = (compute(PRESETS[name]) for name in ("Break", "Fix"))
    assert not one.fits(one.chosen)
    assert two.fits(two.chosen)
    assert 0.45 < 1 - two.chosen.bytes / one.chosen.bytes < 0.5
    assert 1 - two.chosen.tokens_per_second / one.chosen.tokens_per_second == pytest.approx(0.02, abs=0.005)
    small = compute(Settings(memory=24))
    assert small.largest_that_fits.size == 16
    assert small.largest_that_fits.bytes / one.chosen.bytes == pytest.approx(1 / 6, rel=0.05)
    slow = [each.tokens_per_second for each in recording().measured if each.size <= 8]
    assert all(1.75 < after / before < 2.1 for before, after in itertools.pairwise(slow))


def test_the_caption_says_whether_it_fits_and_what_would():
    said = describe(compute(Settings(memory=24)))
    assert "124.3 GB, which does not fit into 24 GB" in said
    assert "The largest that fits is B=16, N=8, at 93% of the highest speed." in said
    assert "The largest" not in describe(compute(Settings(8, 24)))
    assert max(one.bytes for one in recording().measured) < 141 * GB
