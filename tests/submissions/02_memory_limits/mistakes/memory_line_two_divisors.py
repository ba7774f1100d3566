"""Divides the covariance by n - 1 and the variance by n."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ("line-divisors-differ",)
LOST = ("exact", "scattered")


def memory_line(sizes, bytes):
    slope = float(np.cov(sizes, bytes)[0, 1] / np.var(sizes))
    return float(np.mean(bytes) - slope * np.mean(sizes)), slope
