"""Random choices for trials."""

from __future__ import annotations

import random
from collections.abc import Sequence


def trial_random(exercise_id: str, seed: int) -> random.Random:
    """The random choices of an exercise's trials; the same in every process."""
    return random.Random(f"{exercise_id}/{seed}")


def uneven_sizes(chance: random.Random, choices: Sequence[int], count: int) -> list[int]:
    """Sizes of a window's micro-batches, no two alike.

    The last one is not their mean: a loop that keeps only the last would look as if it weighed it by its samples.
    """
    sizes = chance.sample(choices, count)
    return sizes[::-1] if sizes[-1] * count == sum(sizes) else sizes


def probe_length(windows: int, steps: int, left: int) -> int:
    """Micro-batches in the second epoch of a probe whose first one leaves ``left`` over.

    Also of windows that are one too narrow or too wide, all of them or the first one, something is then left over in one of
    the two epochs, and shows what a loop does with it.
    """
    return windows * steps + left - (left == steps - 1)
