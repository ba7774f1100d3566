"""Makes a set of the points, so one that comes twice counts once."""

import numpy as np

EXERCISE = "memory_line"
LOST = ("scattered",)


def memory_line(sizes, bytes):
    points = np.array(sorted(set(zip(sizes, bytes))), dtype=float)
    slope, fixed = np.polyfit(points[:, 0], points[:, 1], 1)
    return fixed, slope
