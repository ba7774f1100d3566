"""Takes the whole effective batch, or refuses."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("whole-batch-or-nothing",)
LOST = ("largest", "full")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    if fixed + per_sample * effective_batch > budget:
        raise ValueError("the batch does not fit")
    return effective_batch, 1
