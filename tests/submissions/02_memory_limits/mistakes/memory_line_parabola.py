"""Fits a curve with three unknowns. No named mistake."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ()
LOST = ("scattered",)


def memory_line(sizes, bytes):
    sizes, bytes = np.array(sizes, dtype=float), np.array(bytes, dtype=float)
    return tuple(np.polyfit(sizes, bytes, 2)[:0:-1])
