"""Keeps one measurement for each size in a dictionary."""

import statistics

EXERCISE = "memory_line"
MISTAKES = ()
LOST = ("scattered",)


def memory_line(sizes, bytes):
    points = dict(zip(sizes, bytes, strict=True))
    slope, intercept = statistics.linear_regression(list(points), list(points.values()))
    return intercept, slope
