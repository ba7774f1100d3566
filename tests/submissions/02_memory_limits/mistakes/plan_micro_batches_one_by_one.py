"""Always takes one sample at a time."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("not-the-largest",)
LOST = ("largest", "full")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    if fixed + per_sample > budget:
        raise ValueError("not even one sample fits")
    return 1, effective_batch
