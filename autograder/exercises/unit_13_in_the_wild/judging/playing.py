"""What the updates of a build hold, and what is due in their place, played with weights alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autograder.exercises.unit_13_in_the_wild.observing.trainers import Build

Rows = list[list[float]]
"""For each update the share of each micro-batch's mean loss, epoch after epoch."""

CLOSE = 1e-6
"""Difference up to which shares are the same. Those of different builds differ by more than 1e-3."""


def play(build: Build) -> Rows:
    """The rows of a build."""
    weights, width = build.weights, len(build.lengths)
    rows, held = [], [0.0] * (width * build.epochs)
    for column in range(len(held)):
        index = column % width
        if build.clear == "every" or (index == 0 and build.clear == "window"):
            held = [0.0] * len(held)
        held[column] += weights[index]
        if index in build.updates_of(last=column >= width * (build.epochs - 1)):
            rows.append(held)
            held = list(held) if build.clear == "never" else [0.0] * len(held)
    return rows


def due(build: Build) -> Rows:
    """What is due: in each window of N, and in a leftover, every micro-batch weighs its share of the tokens."""
    return play(Build(build.seed, build.steps, build.lengths, build.epochs))


def accumulates_right(build: Build) -> bool:
    """Whether the updates of a build hold what is due."""
    return can_be_told(build) and same(play(build), due(build))


def can_be_told(build: Build) -> bool:
    """Whether all tokens of a micro-batch weigh alike, so that it is known what is due."""
    return not build.accented or all(length <= 1 for sequences in build.lengths for length in sequences)


def same(one: Rows, other: Rows) -> bool:
    """Whether two lists of rows agree."""
    return len(one) == len(other) and all(
        abs(a - b) < CLOSE for row, others in zip(one, other, strict=True) for a, b in zip(row, others, strict=True)
    )


NAMED: dict[str, dict[str, Any]] = {
    "right": {},
    "no-scale": {"weigh": "one"},
    "mean-of-means": {"weigh": "mean"},
    "wrong-total": {"weigh": "shifted"},
    "tail-scale": {"weigh": "N"},
    "tail-dropped": {"ends": "full"},
    "zero-every": {"clear": "every"},
    "never-zero": {"clear": "never"},
    "step-every": {"ends": "every"},
    "off-by-one-early": {"ends": "early"},
}
"""What to change in a right build to get the one that has the name."""


def named(build: Build, name: str) -> Build:
    """The build with this name, on the same data."""
    return replace(build, **NAMED[name])


def names_of(build: Build) -> list[str]:
    """All names whose builds hold what this one holds."""
    return [name for name in NAMED if same(play(named(plain(build), name)), play(build))]


def plain(build: Build) -> Build:
    """A right build on the same data."""
    return Build(build.seed, build.steps, build.lengths, build.epochs)
