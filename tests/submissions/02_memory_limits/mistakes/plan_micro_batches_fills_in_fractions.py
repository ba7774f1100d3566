"""Fills the budget and returns the quotient as it is."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("does-not-divide",)
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    if fixed + per_sample > budget:
        raise ValueError("not even one sample fits")
    size = min(effective_batch, (budget - fixed) // per_sample)
    return size, effective_batch / size
