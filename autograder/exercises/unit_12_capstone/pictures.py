"""The fingerprint of a student's own run, as ``gradaccum.watch`` sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

import gradaccum
from gradaccum.capstone.config import Config
from gradaccum.capstone.run import Run
from gradaccum.fingerprint_words import say
from gradaccum.loops import windows
from gradaccum.notebook.showing import Picture, show_fingerprints

SHORT = Config(lines=21, epochs=1, effective_batch=8, micro_batch_size=2, max_norm=1e6)
"""Two full windows of four micro-batches, and a leftover of three, the last with one line; nothing is clipped."""


def draw_windows(function: Callable) -> Picture:
    """A function that trains on one window, called for every window of the run."""

    def train(config: Config) -> None:
        run = config.build()
        for window in windows(config.micro_batches(0), config.accumulation_steps):
            function(run, window, config.max_norm)

    return _draw(train, function)


def draw_run(function: Callable) -> Picture:
    """A function that trains as a config says."""
    return _draw(function, function)


def _draw(train: Callable[[Config], Any], function: Callable) -> Picture:
    runs = []
    with ExitStack() as stack:

        def watch(run: Run) -> None:
            runs.append(stack.enter_context(gradaccum.watch(run.model, accumulation_steps=SHORT.accumulation_steps)))

        train(SHORT.with_(watch=watch))
    seen, name = runs[-1], getattr(function, "__name__", "your run")
    if seen.fingerprint is None or seen.due is None:
        raise RuntimeError("; ".join(seen.notes) or "nothing was seen of it")
    caption = f"{name} {say(seen.fingerprint, seen.due)}."
    return show_fingerprints({"a right loop": seen.due, name: seen.fingerprint}, columns=2, due=seen.due, caption=caption)


PICTURES: Mapping[str, Callable[[Callable], Picture]] = {"train_window": draw_windows, "train": draw_run}
