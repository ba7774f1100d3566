"""Makes the relative differences small instead of the absolute ones."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-squares-weighted",)
LOST = ("scattered",)


def memory_line(sizes, bytes):
    slope, start = np.polyfit(sizes, bytes, 1, w=[1 / held for held in bytes])
    return float(start), float(slope)
