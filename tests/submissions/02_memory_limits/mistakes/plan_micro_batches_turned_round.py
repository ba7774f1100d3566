"""Returns N first."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("plan-turned-round",)
LOST = ("largest", "full")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    if fixed + per_sample > budget:
        raise ValueError("not even one sample fits")
    for size in range(effective_batch, 0, -1):
        if effective_batch % size == 0 and fixed + per_sample * size <= budget:
            return effective_batch // size, size
