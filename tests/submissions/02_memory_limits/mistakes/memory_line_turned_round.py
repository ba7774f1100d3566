"""Returns the slope first, as polyfit does."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-turned-round",)
LOST = ("exact", "scattered")


def memory_line(sizes, bytes):
    sizes, bytes = np.array(sizes, dtype=float), np.array(bytes, dtype=float)
    return tuple(np.polyfit(sizes, bytes, 1))
