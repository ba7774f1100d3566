"""Draws a line through the smallest and the largest size."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-through-two-points",)
LOST = ("scattered",)


def memory_line(sizes, bytes):
    sizes, bytes = np.array(sizes, dtype=float), np.array(bytes, dtype=float)
    small, large = sizes.argmin(), sizes.argmax()
    per_sample = (bytes[large] - bytes[small]) / (sizes[large] - sizes[small])
    return bytes[small] - per_sample * sizes[small], per_sample
