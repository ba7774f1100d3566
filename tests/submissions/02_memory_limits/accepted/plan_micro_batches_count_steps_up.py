"""Looks for the smallest number of accumulation steps instead."""

from itertools import count

EXERCISE = "plan_micro_batches"


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    if budget < fixed + per_sample:
        raise ValueError("the budget does not even hold one sample")
    for steps in count(1):
        size, rest = divmod(effective_batch, steps)
        if rest == 0 and fixed + per_sample * size <= budget:
            return size, steps
