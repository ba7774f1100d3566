"""Rounds both numbers to whole bytes."""

from statistics import linear_regression

EXERCISE = "memory_line"
MISTAKES = ()
LOST = ("scattered",)


def memory_line(sizes, bytes):
    slope, intercept = linear_regression(sizes, bytes)
    return round(intercept), round(slope)
