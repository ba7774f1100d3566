"""The standard library can do it."""

from statistics import linear_regression

EXERCISE = "memory_line"


def memory_line(sizes, bytes):
    line = linear_regression(sizes, bytes)
    return [line.intercept, line.slope]
