"""Gives the arguments in the wrong order, and fits samples to bytes."""

from statistics import linear_regression

EXERCISE = "memory_line"
MISTAKES = ("line-of-sizes",)
LOST = ("exact", "scattered")


def memory_line(sizes, bytes):
    line = linear_regression(bytes, sizes)
    return line.intercept, line.slope
