"""Counts down and returns the first size that divides and fits.

Lists the divisors that fit and takes the largest; `max` of nothing is the ValueError.
"""


def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    divisors = (b for b in range(1, effective_batch + 1) if not effective_batch % b)
    best = max(b for b in divisors if fixed + b * per_sample <= budget)
    return best, effective_batch // best
