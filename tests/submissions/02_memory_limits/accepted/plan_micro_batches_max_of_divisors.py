"""Takes the maximum of all that fit; max of nothing is itself a ValueError with a reason."""

EXERCISE = "plan_micro_batches"


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    divisors = (b for b in range(1, effective_batch + 1) if not effective_batch % b)
    best = max(b for b in divisors if fixed + b * per_sample <= budget)
    return [best, effective_batch // best]
