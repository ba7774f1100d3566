"""Searches among the divisors by halves; more lines never need less."""

from bisect import bisect_right as bisect

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"


def pick_micro_batch_size(config):
    model, window = config.build_model(), config.effective_batch
    divisors = [size for size in range(1, window + 1) if window % size == 0]
    fitting = bisect(divisors, config.budget, key=lambda size: activation_bytes(model, *config.longest_micro_batch(size)))
    if fitting == 0:
        raise ValueError("the budget is too small for one line")
    return divisors[fitting - 1]
