"""The line through measured bytes that is due, and the lines that mistakes give.

Each formula takes ``sizes`` and ``points``, bytes measured at these sizes, and returns ``(fixed, per_sample)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from autograder.judging.calls import Formula

Line = tuple[float, float]
Point = tuple[float, float]

FIT = 2e-3
"""Relative difference up to which a line is the same. Least squares in float64 leaves 2e-13 on these points, in float32 up to
1.2e-4 (over 2,000 seeds); a line that is fitted otherwise differs by more than 2e-2 on at least one of them."""


def least_squares(sizes: Sequence[float], points: Sequence[float]) -> Line:
    """The line with the smallest sum of squared differences in bytes."""
    size, point = fmean(sizes), fmean(points)
    slope = sum((s - size) * (p - point) for s, p in zip(sizes, points, strict=True)) / sum((s - size) ** 2 for s in sizes)
    return point - slope * size, slope


def _turned_round(sizes: Sequence[float], points: Sequence[float]) -> Line:
    fixed, per_sample = least_squares(sizes, points)
    return per_sample, fixed


def _of_sizes(sizes: Sequence[float], points: Sequence[float]) -> Line:
    return least_squares(points, sizes)


def _of_sizes_turned_round(sizes: Sequence[float], points: Sequence[float]) -> Line:
    start, slope = _of_sizes(sizes, points)
    return slope, start


def _of_sizes_solved(sizes: Sequence[float], points: Sequence[float]) -> Line:
    start, slope = _of_sizes(sizes, points)
    return -start / slope, 1 / slope


def _through_zero(sizes: Sequence[float], points: Sequence[float]) -> Line:
    return 0.0, sum(s * p for s, p in zip(sizes, points, strict=True)) / sum(s * s for s in sizes)


def _mean_of_ratios(sizes: Sequence[float], points: Sequence[float]) -> Line:
    return 0.0, fmean(p / s for s, p in zip(sizes, points, strict=True))


def _through(choose: Callable[[list[Point]], tuple[Point, Point]]) -> Callable[[Sequence[float], Sequence[float]], Line]:
    """The formula of a line through two of the points."""

    def line(sizes: Sequence[float], points: Sequence[float]) -> Line:
        (s, p), (t, q) = choose(list(zip(sizes, points, strict=True)))
        slope = (q - p) / (t - s)
        return p - slope * s, slope

    return line


WRONG_LINES: dict[str, tuple[Formula, ...]] = {
    "line-turned-round": (_turned_round,),
    "line-of-sizes": (_of_sizes, _of_sizes_turned_round, _of_sizes_solved),
    "line-through-zero": (_through_zero, _mean_of_ratios),
    "line-through-two-points": (
        _through(lambda points: (min(points), max(points))),
        _through(lambda points: (points[0], points[-1])),
        _through(lambda points: (points[0], points[1])),
    ),
}
"""By mistake, the formulas that make it."""
