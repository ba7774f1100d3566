"""Thinks that nothing fits if a single sample needs every byte of the budget."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("full",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    if fixed + per_sample >= budget:
        raise ValueError("not even one sample fits")
    for size in range(effective_batch, 0, -1):
        if effective_batch % size == 0 and fixed + per_sample * size <= budget:
            return size, effective_batch // size
