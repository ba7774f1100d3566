"""Divides with /, so that N is a float."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("not-whole",)
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    for size in range(effective_batch, 0, -1):
        if effective_batch % size == 0 and fixed + per_sample * size <= budget:
            return size, effective_batch / size
    raise ValueError("nothing fits")
