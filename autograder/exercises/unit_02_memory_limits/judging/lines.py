"""The line through measured bytes that is due, and the lines that mistakes give.

Each formula takes ``sizes`` and ``points``, bytes measured at these sizes, and returns ``(fixed, per_sample)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from operator import mul
from statistics import correlation, fmean, median, pstdev

import torch

from autograder.judging.calls import Formula

Line = tuple[float, float]
Point = tuple[float, float]

FIT = 2e-3
"""Relative difference up to which a line is the same. Least squares in float64 leaves 3e-13 on these points, in float32 up to
1.2e-4 (over 2,000 seeds), but the normal equations in float32 6e-3 on one list; a line that is fitted otherwise differs by more
than 2e-2 on at least one of them."""


def least_squares(sizes: Sequence[float], points: Sequence[float]) -> Line:
    """The line with the smallest sum of squared differences in bytes."""
    size, point = fmean(sizes), fmean(points)
    slope = sum((s - size) * (p - point) for s, p in zip(sizes, points, strict=True)) / sum((s - size) ** 2 for s in sizes)
    return point - slope * size, slope


def squares(line: Sequence[float], sizes: Sequence[float], points: Sequence[float]) -> float:
    """The sum of squared differences in bytes between points and a line; infinite where a float has no room for it."""
    fixed, per_sample = line
    off = [p - fixed - per_sample * s for s, p in zip(sizes, points, strict=True)]
    return sum(map(mul, off, off))  # a power of a large float raises an error


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


def _through_means(slope: Callable[[Sequence[float], Sequence[float]], float]) -> Formula:
    """The formula of a line with this slope through the means of sizes and bytes."""

    def line(sizes: Sequence[float], points: Sequence[float]) -> Line:
        return fmean(points) - slope(sizes, points) * fmean(sizes), slope(sizes, points)

    return line


def _neighbours_slopes(sizes: Sequence[float], points: Sequence[float]) -> list[float]:
    ordered = sorted(zip(sizes, points, strict=True))
    return [(q - p) / (t - s) for (s, p), (t, q) in pairwise(ordered) if s != t]


def _slopes_of_pairs(sizes: Sequence[float], points: Sequence[float]) -> list[float]:
    pairs = combinations(zip(sizes, points, strict=True), 2)
    return [(q - p) / (t - s) for (s, p), (t, q) in pairs if s != t]


def _through_first_point(sizes: Sequence[float], points: Sequence[float]) -> Line:
    _, slope = least_squares(sizes, points)
    return points[0] - slope * sizes[0], slope


def _weighted(weight: Callable[[float, float], float]) -> Formula:
    """The formula of a line whose squares are weighted, point by point."""

    def line(sizes: Sequence[float], points: Sequence[float]) -> Line:
        weights = [weight(s, p) for s, p in zip(sizes, points, strict=True)]
        size, point = (sum(map(mul, weights, values)) / sum(weights) for values in (sizes, points))
        rows = list(zip(weights, sizes, points, strict=True))
        slope = sum(w * (s - size) * (p - point) for w, s, p in rows) / sum(w * (s - size) ** 2 for w, s, _ in rows)
        return point - slope * size, slope

    return line


def _without_farthest(sizes: Sequence[float], points: Sequence[float]) -> Line:
    fixed, per_sample = least_squares(sizes, points)
    kept = sorted(zip(sizes, points, strict=True), key=lambda point: abs(point[1] - fixed - per_sample * point[0]))[:-1]
    return least_squares(*zip(*kept, strict=True))


WRONG_LINES: dict[str, tuple[Formula, ...]] = {
    "line-turned-round": (_turned_round,),
    "line-of-sizes": (_of_sizes, _of_sizes_turned_round, _of_sizes_solved),
    "line-through-zero": (_through_zero, _mean_of_ratios),
    "line-through-two-points": (
        _through(lambda points: (min(points), max(points))),
        _through(lambda points: (points[0], points[-1])),
        _through(lambda points: (points[0], points[1])),
    ),
    "line-through-first-point": (_through_first_point,),
    "line-pairs-broken": (
        lambda sizes, points: least_squares(sorted(sizes), points),
        lambda sizes, points: least_squares(sizes, sorted(points)),
        lambda sizes, points: least_squares(sorted(sizes), sorted(points)),
    ),
    "line-point-left-out": (
        lambda sizes, points: least_squares(sizes[1:], points[1:]),
        lambda sizes, points: least_squares(sizes[:-1], points[:-1]),
        _without_farthest,
    ),
    "line-of-mean-slope": (
        _through_means(lambda sizes, points: fmean(_neighbours_slopes(sizes, points))),
        _through_means(lambda sizes, points: fmean(_slopes_of_pairs(sizes, points))),
    ),
    "line-squares-weighted": (
        _weighted(lambda size, point: size),
        _weighted(lambda size, point: size**2),
        _weighted(lambda size, point: point**-2),
        _weighted(lambda size, point: 1 / size),
        _weighted(lambda size, point: size**-2),
    ),
    "line-divisors-differ": (
        _through_means(lambda sizes, points: least_squares(sizes, points)[1] * (len(sizes) - 1) / len(sizes)),
        _through_means(lambda sizes, points: least_squares(sizes, points)[1] * len(sizes) / (len(sizes) - 1)),
    ),
    "line-of-correlation": (_through_means(correlation),),
}
"""By mistake, the formulas that make it."""


def _slope_over_squared_sizes(sizes: Sequence[float], points: Sequence[float]) -> float:
    size, point = fmean(sizes), fmean(points)
    return sum((s - size) * (p - point) for s, p in zip(sizes, points, strict=True)) / sum(s * s for s in sizes)


def _slope_without_last_point(sizes: Sequence[float], points: Sequence[float]) -> float:
    size, point = fmean(sizes), fmean(points)
    rows = list(zip(sizes, points, strict=True))[:-1]
    return sum((s - size) * (p - point) for s, p in rows) / sum((s - size) ** 2 for s, _ in rows)


def _median_slope(sizes: Sequence[float], points: Sequence[float]) -> Line:
    slope = median(_slopes_of_pairs(sizes, points))
    return median(p - slope * s for s, p in zip(sizes, points, strict=True)), slope


def _slope_of_halves(sizes: Sequence[float], points: Sequence[float]) -> float:
    ordered = sorted(zip(sizes, points, strict=True))
    half = len(ordered) // 2
    (s, p), (t, q) = ((fmean(s for s, _ in part), fmean(p for _, p in part)) for part in (ordered[:half], ordered[-half:]))
    return (q - p) / (t - s)


def _parabola(sizes: Sequence[float], points: Sequence[float]) -> Line:
    powers = torch.tensor([[1.0, s, s**2] for s in sizes], dtype=torch.float64)
    fixed, per_sample, _ = (
        torch.linalg.lstsq(powers, torch.tensor(points, dtype=torch.float64)[:, None]).solution.flatten().tolist()
    )
    return fixed, per_sample


def _least_distances(sizes: Sequence[float], points: Sequence[float]) -> Line:
    """The line with the smallest sum of distances goes through two of the points."""
    pairs = list(zip(sizes, points, strict=True))
    lines = [least_squares(*zip(*two, strict=True)) for two in combinations(pairs, 2) if two[0][0] != two[1][0]]
    return min(lines, key=lambda line: sum(abs(p - line[0] - line[1] * s) for s, p in pairs))


def _rounded_to(unit: int) -> Formula:
    def line(sizes: Sequence[float], points: Sequence[float]) -> Line:
        fixed, per_sample = least_squares(sizes, points)
        return round(fixed / unit) * unit, per_sample

    return line


def _in_units_of(unit: int) -> Formula:
    return lambda sizes, points: tuple(number / unit for number in least_squares(sizes, points))


def _whole_means(sizes: Sequence[float], points: Sequence[float]) -> Line:
    size, point = sum(sizes) // len(sizes), sum(points) // len(points)
    slope = sum((s - size) * (p - point) for s, p in zip(sizes, points, strict=True)) / sum((s - size) ** 2 for s in sizes)
    return point - slope * size, slope


def _shrunk(share: float) -> Formula:
    return _through_means(lambda sizes, points: least_squares(sizes, points)[1] / (1 + share))


def _one_for_each_size(choose: Callable[[list[float]], float]) -> Formula:
    """The formula of least squares with one point for each size, chosen from all bytes measured there."""

    def line(sizes: Sequence[float], points: Sequence[float]) -> Line:
        at = {size: choose([p for s, p in zip(sizes, points, strict=True) if s == size]) for size in sizes}
        return least_squares(list(at), list(at.values()))

    return line


def _never_below_zero(refit: Formula) -> Formula:
    """The formula of least squares, or of another line where the fixed part of the former is negative."""

    def line(sizes: Sequence[float], points: Sequence[float]) -> Line:
        fixed, per_sample = least_squares(sizes, points)
        return (fixed, per_sample) if fixed >= 0 else refit(sizes, points)

    return line


def _lifted_from_zero(choose: Callable[[list[float]], float]) -> Formula:
    """The formula of a line with the slope of one through zero, and one of what it leaves over as its fixed part."""

    def line(sizes: Sequence[float], points: Sequence[float]) -> Line:
        slope = _through_zero(sizes, points)[1]
        return choose([p - slope * s for s, p in zip(sizes, points, strict=True)]), slope

    return line


def _ridge(penalty: float) -> Formula:
    """The formula of least squares with a penalty on the squares of both numbers."""

    def line(sizes: Sequence[float], points: Sequence[float]) -> Line:
        n, s, p = len(sizes) + penalty, sum(sizes), sum(points)
        ss, sp = sum(size**2 for size in sizes) + penalty, sum(map(mul, sizes, points))
        return (ss * p - s * sp) / (n * ss - s**2), (n * sp - s * p) / (n * ss - s**2)

    return line


def _of_logarithms(sizes: Sequence[float], points: Sequence[float]) -> Line:
    fixed, per_sample = least_squares(list(map(math.log, sizes)), [math.log(abs(p)) for p in points])
    return math.exp(fixed), math.exp(per_sample)


LINES_IN_WORDS: dict[str, tuple[Formula, ...]] = {
    "Your slope divides by the sum of the squared sizes, where that of their squared distances from the mean is due.": (
        _through_means(_slope_over_squared_sizes),
    ),
    "The last point does not count in your slope, only in the means.": (_through_means(_slope_without_last_point),),
    "Of points with the same size you use only one.": (
        _one_for_each_size(lambda points: points[-1]),
        _one_for_each_size(lambda points: points[0]),
        _one_for_each_size(min),
        _one_for_each_size(max),
    ),
    "You replace points of the same size by their mean, which then weighs no more than a single point.": (
        _one_for_each_size(fmean),
    ),
    "Your fixed part is never below zero.": (
        _never_below_zero(_through_zero),
        _never_below_zero(lambda sizes, points: (0.0, least_squares(sizes, points)[1])),
    ),
    "Your slope is the median of the slopes between pairs of points, where the line of least squares is due.": (
        _median_slope,
        _through_means(lambda sizes, points: median(_slopes_of_pairs(sizes, points))),
    ),
    "Your slope is that between the means of the smaller and of the larger half of the points.": (
        _through_means(_slope_of_halves),
    ),
    "Your two numbers belong to a parabola that is fitted to the points; its third is left out.": (_parabola,),
    "Your line makes the sum of distances least, not that of squared distances.": (_least_distances,),
    "Your slope is that of a line through zero, although your line does not go through zero.": (
        _through_means(lambda sizes, points: _through_zero(sizes, points)[1]),
        _lifted_from_zero(min),
        _lifted_from_zero(max),
        _lifted_from_zero(median),
    ),
    "You take the smallest number of bytes for the fixed part, although samples are in it.": (
        lambda sizes, points: (min(points), _through_zero(sizes, [p - min(points) for p in points])[1]),
    ),
    "Your slope is the ratio of the standard deviations of bytes and sizes.": (
        _through_means(lambda sizes, points: math.copysign(pstdev(points) / pstdev(sizes), correlation(sizes, points))),
    ),
    "Your line makes the squares least together with a penalty on the size of both numbers.": tuple(
        map(_ridge, (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0))
    ),
    "You fit a line to logarithms. Bytes are a line in B, but their logarithms are not.": (_of_logarithms,),
    "Your fixed part is rounded to whole KiB.": (_rounded_to(2**10),),
    "Your slope is right, but your fixed part is 0.": (lambda sizes, points: (0.0, least_squares(sizes, points)[1]),),
    "Your numbers are in KiB, where bytes are due.": (_in_units_of(2**10),),
    "Your numbers are in MiB, where bytes are due.": (_in_units_of(2**20),),
    "Your numbers are in GiB, where bytes are due.": (_in_units_of(2**30),),
    "Your line does not go through the means of sizes and bytes, but through these means rounded down.": (_whole_means,),
    "Your slopes are all too flat by the same factor, as a penalty on the slope makes them.": tuple(
        map(_shrunk, (0.01, 0.02, 0.05, 0.1))
    ),
}
"""Rarer lines, by how they are chosen."""
