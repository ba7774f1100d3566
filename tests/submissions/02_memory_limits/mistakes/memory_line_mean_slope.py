"""Averages the slopes from each point to the next larger one."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-of-mean-slope",)
LOST = ("scattered",)


def memory_line(sizes, bytes):
    order = np.argsort(sizes)
    x, y = np.array(sizes)[order], np.array(bytes)[order]
    slope = float((np.diff(y) / np.diff(x)).mean())
    return float(y.mean() - slope * x.mean()), slope
