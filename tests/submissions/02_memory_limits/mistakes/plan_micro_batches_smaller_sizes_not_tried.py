"""Refuses the call where the largest size that fits does not divide the effective batch."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("smaller-sizes-not-tried",)
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    size = min(effective_batch, (budget - fixed) // per_sample)
    if size < 1 or effective_batch % size:
        raise ValueError("no micro-batch fits")
    return size, effective_batch // size
