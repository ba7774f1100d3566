"""Finds the size by floor of a float division, as numpy has it."""

import numpy as np

EXERCISE = "plan_micro_batches"
MISTAKES = ("not-whole",)
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    if fixed + per_sample > budget:
        raise ValueError("not even one sample fits")
    size = min(np.floor((budget - fixed) / per_sample), effective_batch)
    while effective_batch % size:
        size -= 1
    return size, int(effective_batch / size)
