"""Returns B alone, where the pair of B and N is due."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("largest", "full")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    for size in range(effective_batch, 0, -1):
        if effective_batch % size == 0 and fixed + per_sample * size <= budget:
            return size
    raise ValueError("not even one sample fits")
