"""Sets a negative fixed part to zero, although the least-squares line may well have one."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ()
LOST = ("scattered",)


def memory_line(sizes, bytes):
    per_sample, fixed = np.polyfit(sizes, bytes, 1)
    return max(fixed, 0.0), per_sample
