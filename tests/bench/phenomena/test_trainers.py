"""Trainers of released libraries: the caption says which release is shown."""

from __future__ import annotations

import pytest

from gradaccum.phenomena.trainers import Settings, compute, describe
from gradaccum.real_trainers import releases


@pytest.mark.parametrize("trainer", releases())
def test_the_caption_says_so_where_there_is_no_such_release(trainer):
    watched = len(releases()[trainer])
    assert "there is no release" not in describe(compute(Settings(trainer, watched)))
    assert f"(there is no release {watched + 1})" in describe(compute(Settings(trainer, watched + 1)))
