"""The fingerprint of a student's own loop, on the data of the notebook."""

from __future__ import annotations

from functools import partial

from gradaccum.notebook.showing import show_fingerprint
from gradaccum.problems import Problem

TWO_WINDOWS = Problem(seed=4, accumulation_steps=4, epochs=((2,) * 8,), width=8)
WITH_LEFTOVER = TWO_WINDOWS.with_(epochs=((2,) * 10,))
RAGGED_AT_THE_END = TWO_WINDOWS.with_(epochs=((2,) * 9 + (1,),))


PICTURES = {
    "repaired_early_clear": partial(show_fingerprint, problem=TWO_WINDOWS),
    "repaired_eager_step": partial(show_fingerprint, problem=TWO_WINDOWS),
    "repaired_lost_tail": partial(show_fingerprint, problem=WITH_LEFTOVER),
    "train_epoch": partial(show_fingerprint, problem=RAGGED_AT_THE_END),
}
