"""The fingerprint of a student's own function."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from gradaccum.notebook.showing import Picture, show_fingerprint
from gradaccum.problems import Problem

RAGGED = Problem(seed=3, accumulation_steps=4, epochs=((4, 2, 1, 1),), width=8)


def draw(function: Callable) -> Picture:
    """One window of ragged micro-batches, and an update with what the function leaves in ``.grad``."""

    @wraps(function)
    def loop(model: Any, loss_fn: Any, optimizer: Any, micro_batches: Any, accumulation_steps: int) -> None:
        function(model, loss_fn, list(micro_batches))
        optimizer.step()

    return show_fingerprint(loop, RAGGED)


PICTURES = {"accumulate_gradient": draw}
