"""Never tries a single sample."""

EXERCISE = "plan_micro_batches"
MISTAKES = ("single-sample-not-tried",)
LOST = ("full", "largest")


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    sizes = [
        b for b in range(1, effective_batch + 1) if effective_batch % b == 0 and b * per_sample + fixed <= budget and b >= 2
    ]
    if not sizes:
        raise ValueError("no micro-batch fits the budget")
    return sizes[-1], effective_batch // sizes[-1]
