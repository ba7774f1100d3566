"""NumPy's polynomial fit, turned round."""

import numpy as np

EXERCISE = "memory_line"


def memory_line(sizes, bytes):
    return np.polyfit(sizes, bytes, 1)[::-1]
