"""Divides bytes by samples and takes the mean."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-through-zero",)
LOST = ("exact", "scattered")


def memory_line(sizes, bytes):
    sizes, bytes = np.array(sizes, dtype=float), np.array(bytes, dtype=float)
    return 0, (bytes / sizes).mean()
