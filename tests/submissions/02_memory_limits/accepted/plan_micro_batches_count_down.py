"""Tries sizes from the largest down."""

EXERCISE = "plan_micro_batches"


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    for size in range(effective_batch, 0, -1):
        if effective_batch % size == 0 and fixed + per_sample * size <= budget:
            return size, effective_batch // size
    raise ValueError(f"one sample needs {fixed + per_sample} bytes, which is more than the budget of {budget}")
