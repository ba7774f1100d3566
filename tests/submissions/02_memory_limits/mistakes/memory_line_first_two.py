"""Draws a line through the first two points."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-through-two-points",)
LOST = ("scattered",)


def memory_line(sizes, bytes):
    sizes, bytes = np.array(sizes, dtype=float), np.array(bytes, dtype=float)
    per_sample = (bytes[1] - bytes[0]) / (sizes[1] - sizes[0])
    return bytes[0] - per_sample * sizes[0], per_sample
