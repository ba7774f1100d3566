"""Pays the fixed part once for every micro-batch."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("fixed-for-each",)
LOST = ("largest", "full")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    for size in range(effective_batch, 0, -1):
        if effective_batch % size == 0 and effective_batch // size * fixed + per_sample * size <= budget:
            return size, effective_batch // size
    raise ValueError("nothing fits")
