"""Thinks that nothing fits into a budget of zero or less, though the fixed part may be lower."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("budget-of-zero-refused",)
LOST = ("full",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    if not budget > 0:
        raise ValueError("the budget is used up")
    sizes = [b for b in range(1, effective_batch + 1) if effective_batch % b == 0 and b * per_sample + fixed <= budget]
    if not sizes:
        raise ValueError("no micro-batch fits the budget")
    return sizes[-1], effective_batch // sizes[-1]
