"""Takes the greatest common divisor of the batch and of what fits."""

from math import gcd

EXERCISE = "plan_micro_batches"
MISTAKES = ("common-divisor-of-room",)
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    fitting = min(effective_batch, (budget - fixed) // per_sample)
    if fitting <= 0:
        raise ValueError(f"{fitting} samples fit")
    common = gcd(fitting, effective_batch)
    return common, effective_batch // common
