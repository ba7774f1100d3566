"""The fingerprint of a student's own trainer."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from gradaccum.notebook.showing import Picture, show_fingerprint
from gradaccum.problems.tokens import TokenProblem

TEXTS = TokenProblem(seed=13, accumulation_steps=3, width=8, lengths=(((2,), (2, 4), (1, 2, 6), (7,), (3, 5)),))


def draw(make: Callable[..., Any]) -> Picture:
    """A window of 2, 6 and 9 tokens, and a leftover of 7 and 8."""

    @wraps(make, updated=())
    def loop(model: Any, loss_fn: Any, optimizer: Any, micro_batches: Any, accumulation_steps: int) -> None:
        make(model, optimizer, list(micro_batches), accumulation_steps).train()

    return show_fingerprint(loop, TEXTS)


PICTURES = {"RepairedTrainer": draw}
