"""Refuses a fixed part that is larger than the budget without its sign; counts it rightly."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("full",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    if abs(fixed) >= budget:
        raise ValueError("the fixed part alone is too much")
    for size in range(effective_batch, 0, -1):
        if effective_batch % size == 0 and fixed + per_sample * size <= budget:
            return size, effective_batch // size
    raise ValueError("not even one sample fits")
