"""The fingerprint of a student's own loop, on the texts of the notebook."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from gradaccum.loops.tokens import as_loop
from gradaccum.notebook.showing import Picture, show_fingerprint
from gradaccum.problems.tokens import TokenProblem

TEXTS = TokenProblem(seed=8, accumulation_steps=4, width=8, lengths=(((2,), (2, 4), (1, 2, 6), (7, 8)),))


def draw(function: Callable) -> Picture:
    """One window of 2, 6, 9 and 15 tokens."""
    return show_fingerprint(wraps(function)(as_loop(function)), TEXTS)


PICTURES = {"train_epoch_tokens": draw}
