"""Fits samples to bytes and solves for bytes: the same line only if the points lie on one."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-of-sizes",)
LOST = ("scattered",)


def memory_line(sizes, bytes):
    slope, start = np.polyfit(bytes, sizes, 1)
    return -start / slope, 1 / slope
