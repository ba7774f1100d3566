"""Sorts both lists, each for itself."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-pairs-broken",)
LOST = ("scattered",)


def memory_line(sizes, bytes):
    slope, start = np.polyfit(sorted(sizes), sorted(bytes), 1)
    return float(start), float(slope)
