"""Writes the line as a linear system and solves it by least squares.

Uses the standard library, which knows the closed formula for a line.
"""

from statistics import linear_regression


def memory_line(sizes, bytes):
    line = linear_regression(sizes, bytes)
    return line.intercept, line.slope
