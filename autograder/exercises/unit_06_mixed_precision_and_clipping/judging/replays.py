"""What loops that we run for comparison do on a trial. The results are kept: check() uses the same problems each time."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from autograder.contract.observation import Observation
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import (
    AmpTrial,
    ClipTrial,
    observe_amp,
    observe_clipped,
)

MAX_REPLAYS = 2048
"""How many results are kept, a few kilobytes each. All loops in mixed precision on the trials of one seed need fewer."""


@lru_cache(maxsize=MAX_REPLAYS)
def replay_clipped(loop: Callable, trial: ClipTrial) -> Observation:
    """What a loop that clips does on a trial; not to be changed."""
    return observe_clipped(loop, trial)


@lru_cache(maxsize=MAX_REPLAYS)
def replay_amp(loop: Callable, trial: AmpTrial) -> Observation:
    """What a loop in mixed precision does on a trial; not to be changed."""
    return observe_amp(loop, trial)
