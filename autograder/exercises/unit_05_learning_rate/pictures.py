"""The fingerprint of a student's own loop, with a schedule that leaves the rate as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from torch.optim.lr_scheduler import LambdaLR

from gradaccum.notebook.showing import Picture, show_fingerprint
from gradaccum.problems import Problem

WITH_LEFTOVER = Problem(seed=5, accumulation_steps=4, epochs=((2,) * 10,), width=8)


def draw(function: Callable) -> Picture:
    """Two full windows and a leftover."""

    @wraps(function)
    def loop(model: Any, loss_fn: Any, optimizer: Any, micro_batches: Any, accumulation_steps: int) -> None:
        scheduler = LambdaLR(optimizer, lambda _: 1.0)
        function(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps)

    return show_fingerprint(loop, WITH_LEFTOVER)


PICTURES = {"train_with_schedule": draw}
