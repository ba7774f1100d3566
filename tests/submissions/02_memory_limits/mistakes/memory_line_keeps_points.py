"""Keeps the points of earlier calls, which join in later lines."""

import numpy as np

EXERCISE = "memory_line"
MISTAKES = ()
LOST = ("exact", "scattered")
SAYS = ("Your code changes the default value of the argument 'all_sizes', so",)


def memory_line(sizes, bytes, all_sizes=[], all_bytes=[]):
    all_sizes += sizes
    all_bytes += bytes
    per_sample, fixed = np.polyfit(all_sizes, all_bytes, 1)
    return float(fixed), float(per_sample)
