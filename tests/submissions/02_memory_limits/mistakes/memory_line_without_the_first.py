"""Leaves the first measurement out because the machine was still cold."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-point-left-out",)
LOST = ("scattered",)


def memory_line(sizes, bytes):
    slope, start = np.polyfit(sizes[1:], bytes[1:], 1)
    return float(start), float(slope)
