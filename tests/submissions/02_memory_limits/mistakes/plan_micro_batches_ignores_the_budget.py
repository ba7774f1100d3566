"""Takes everything at once."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("budget-ignored", "misfit-not-refused")
LOST = ("largest", "full", "none")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    return effective_batch, 1
