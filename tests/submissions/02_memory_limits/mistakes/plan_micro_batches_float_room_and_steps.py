"""Divides floats twice: for the samples that there is room for, and for N."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("not-whole",)
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    room = (budget - fixed) / per_sample
    for size in range(effective_batch, 0, -1):
        if effective_batch % size == 0 and size <= room:
            return size, effective_batch / size
    raise ValueError("not even one sample fits")
