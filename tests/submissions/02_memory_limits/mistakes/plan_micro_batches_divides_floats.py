"""Divides as floats to find how many samples fit, which rounds up when a huge budget is one byte short."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    limit = int((budget - fixed) / per_sample)
    for size in range(min(limit, effective_batch), 0, -1):
        if effective_batch % size == 0:
            return size, effective_batch // size
    raise ValueError("not even one sample fits")
