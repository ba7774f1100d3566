"""Takes a budget or a fixed part of zero for one that is missing."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("full", "none")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    if not fixed or budget < 0:
        raise TypeError("budget and fixed part are needed")
    for size in range(effective_batch, 0, -1):
        if effective_batch % size == 0 and fixed + per_sample * size <= budget:
            return size, effective_batch // size
    raise ValueError("nothing fits")
