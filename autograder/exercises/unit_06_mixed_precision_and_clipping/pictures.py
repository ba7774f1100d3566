"""The fingerprint of a student's own loop, with a threshold that no gradient reaches: what is clipped is no fingerprint."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from gradaccum.notebook.showing import Picture, show_fingerprint
from gradaccum.problems import Problem

WITH_LEFTOVER = Problem(seed=6, accumulation_steps=4, epochs=((2,) * 10,), width=8)
UNREACHED = 1e6


def draw_clipped(function: Callable) -> Picture:
    """A loop that clips: two full windows and a leftover."""

    @wraps(function)
    def loop(model: Any, loss_fn: Any, optimizer: Any, micro_batches: Any, accumulation_steps: int) -> None:
        function(model, loss_fn, optimizer, micro_batches, accumulation_steps, UNREACHED)

    return show_fingerprint(loop, WITH_LEFTOVER)


def draw_amp(function: Callable) -> Picture:
    """A loop in mixed precision, on the same data in float64, which autocast leaves alone."""

    @wraps(function)
    def loop(model: Any, loss_fn: Any, optimizer: Any, micro_batches: Any, accumulation_steps: int) -> None:
        scaler = torch.amp.GradScaler("cpu")
        function(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, UNREACHED, torch.bfloat16)

    return show_fingerprint(loop, WITH_LEFTOVER)


PICTURES = {"train_epoch_clipped": draw_clipped, "train_epoch_amp": draw_amp}
