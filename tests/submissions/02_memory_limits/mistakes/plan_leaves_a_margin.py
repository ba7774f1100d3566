"""Uses 95 % of the budget."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("largest", "full")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    for b in range(effective_batch, 0, -1):
        if effective_batch % b == 0 and fixed + per_sample * b <= 0.95 * budget:
            return b, effective_batch // b
    raise ValueError("does not fit")
