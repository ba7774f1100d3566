"""Fits samples to bytes, and returns the slope first."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-of-sizes",)
LOST = ("exact", "scattered")


def memory_line(sizes, bytes):
    return tuple(np.polyfit(bytes, sizes, 1))
