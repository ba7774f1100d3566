"""Random choices for trials."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence


def trial_random(exercise_id: str, seed: int) -> random.Random:
    """The source of random choices for an exercise's trials; it gives the same choices in every process."""
    return random.Random(f"{exercise_id}/{seed}")


def uneven_sizes(chance: random.Random, choices: Sequence[int], count: int) -> list[int]:
    """``count`` different sizes for a window's micro-batches, out of ``choices``.

    The smallest of the choices is among them, as some loops leave out micro-batches of a single sample. The first size is above
    their mean, so that a loop that fills its windows with ``count`` times as many samples as the first micro-batch has makes
    wider ones. The last size is not their mean: otherwise a loop that keeps only the last micro-batch would look as if it
    weighted it by its number of samples. Their mean is no whole number, so one that was rounded is wrong.

    Raises:
        ValueError: the mean of any of them is a whole number.
    """
    smallest = min(choices)
    others = [size for size in choices if size != smallest]
    if all((smallest + sum(some)) % count == 0 for some in itertools.combinations(others, count - 1)):
        raise ValueError(f"every {count} of {choices} have a whole number for their mean")
    sizes = [smallest, *chance.sample(others, count - 1)]
    while sum(sizes) % count == 0:
        sizes = [smallest, *chance.sample(others, count - 1)]
    chance.shuffle(sizes)
    large = next(k for k, size in enumerate(sizes) if size * count > sum(sizes))
    sizes[0], sizes[large] = sizes[large], sizes[0]
    return sizes


def uneven_windows(chance: random.Random, choices: Sequence[int], width: int, count: int) -> list[list[int]]:
    """``count`` windows of :func:`uneven_sizes`, no two of which hold the same number of samples.

    A loop that divides by the samples of another window is then wrong whatever was drawn.
    """
    while True:
        found = [uneven_sizes(chance, choices, width) for _ in range(count)]
        if len(set(map(sum, found))) == count:
            return found


def probe_length(windows: int, steps: int, left: int) -> int:
    """The number of micro-batches in a probe's second epoch; its first epoch has a leftover of ``left`` micro-batches.

    One of the two epochs then has a leftover even for a loop whose windows, or whose first window, are one micro-batch too
    narrow or too wide; the leftover shows what the loop does with it.
    """
    return windows * steps + left - (left == steps - 1)
