"""Tries sizes from the largest down.

Searches by halves: a micro-batch with more lines never needs less, so a few measurements are enough.
"""

from bisect import bisect_right

from gradaccum.capstone.budget import activation_bytes


def pick_micro_batch_size(config):
    model, window = config.build_model(), config.effective_batch
    divisors = [size for size in range(1, window + 1) if window % size == 0]
    fitting = bisect_right(divisors, config.budget, key=lambda size: activation_bytes(model, *config.longest_micro_batch(size)))
    if fitting == 0:
        raise ValueError(f"not even one line fits into {config.budget} bytes")
    return divisors[fitting - 1]
