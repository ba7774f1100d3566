"""Recorded trainers: their releases are in order, and their beginnings are whole windows."""

from __future__ import annotations

import pytest

from gradaccum.real_trainers import MAX_COLUMNS, releases


def test_releases_of_a_trainer_are_in_order_of_their_versions():
    watched = [release.version for release in releases()["transformers llama answers"]]
    assert watched == ["4.45.2", "4.46.3", "4.47.1", "4.48.0", "4.48.1"]
    newest = [release.version for release in releases()["transformers llama"]]
    assert newest.index("5.9.0") < newest.index("5.10.1")


def test_every_release_has_a_matrix_that_fits_into_a_picture():
    counts = [len(release.matrix["counts"]) for watched in releases().values() for release in watched]
    assert max(counts) <= MAX_COLUMNS
    assert len(counts) > len(releases())


@pytest.mark.parametrize("updates", [1, 2])
def test_the_beginning_of_a_run_is_its_first_windows(updates):
    release = releases()["transformers llama"][0]
    beginning = release.beginning(updates)
    steps = beginning["accumulation_steps"]
    assert len(beginning["found"]) == updates
    assert len(beginning["tokens"]) == steps * updates == len(beginning["found"][0])
    assert beginning["tokens"] == release.matrix["counts"][: steps * updates]
