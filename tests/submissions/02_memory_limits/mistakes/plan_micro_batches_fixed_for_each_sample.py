"""Lets each sample of a micro-batch pay for the weights."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("fixed-for-each-sample",)
LOST = ("largest", "full")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    sizes = [b for b in range(1, effective_batch + 1) if effective_batch % b == 0 and b * (per_sample + fixed) <= budget]
    if not sizes:
        raise ValueError("no micro-batch fits the budget")
    return sizes[-1], effective_batch // sizes[-1]
