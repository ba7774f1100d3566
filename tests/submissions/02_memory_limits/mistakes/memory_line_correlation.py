"""Takes the correlation for the slope."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-of-correlation",)
LOST = ("exact", "scattered")


def memory_line(sizes, bytes):
    slope = float(np.corrcoef(sizes, bytes)[0, 1])
    return float(np.mean(bytes) - slope * np.mean(sizes)), slope
