"""Finds the best slope and begins at the first measurement."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-through-first-point",)
LOST = ("scattered",)


def memory_line(sizes, bytes):
    slope = float(np.polyfit(sizes, bytes, 1)[0])
    return bytes[0] - sizes[0] * slope, slope
