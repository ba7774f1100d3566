"""Halves, and never refuses."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("halves-only", "misfit-not-refused")
LOST = ("largest", "full", "none")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    size = effective_batch
    while size > 1 and fixed + per_sample * size > budget:
        size //= 2
    return size, effective_batch // size
