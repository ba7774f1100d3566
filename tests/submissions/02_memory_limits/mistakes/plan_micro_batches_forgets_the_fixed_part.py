"""Spends the whole budget on samples."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("fixed-forgotten",)
LOST = ("largest", "full", "none")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    for size in range(effective_batch, 0, -1):
        if effective_batch % size == 0 and per_sample * size <= budget:
            return size, effective_batch // size
    raise ValueError("nothing fits")
