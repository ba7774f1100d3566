"""Treats a prime effective batch as a special case with B = 1, even if all of it fits."""

EXERCISE = "plan_micro_batches"
MISTAKES = ()
LOST = ("largest",)


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    divisors = [b for b in range(2, effective_batch) if effective_batch % b == 0] or [1]
    if not divisors[0] == 1:
        divisors = [1, *divisors, effective_batch]
    fitting = [b for b in divisors if fixed + per_sample * b <= budget]
    if not fitting:
        raise ValueError("not even one sample fits")
    return fitting[-1], effective_batch // fitting[-1]
