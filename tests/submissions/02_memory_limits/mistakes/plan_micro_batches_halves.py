"""Halves until it fits."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("halves-only",)
LOST = ("largest", "full")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    if fixed + per_sample > budget:
        raise ValueError("not even one sample fits")
    size = effective_batch
    while fixed + per_sample * size > budget:
        size //= 2
    return size, effective_batch // size
