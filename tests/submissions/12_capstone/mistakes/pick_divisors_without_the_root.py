"""Looks for divisors in pairs, and stops before the root of a square."""

from math import isqrt

from gradaccum.capstone.budget import activation_bytes

EXERCISE = "pick_micro_batch_size"
MISTAKES = ()
LOST = ("largest",)


def pick_micro_batch_size(config):
    lines, model = config.effective_batch, config.build_model()
    small = [size for size in range(1, isqrt(lines - 1) + 1) if lines % size == 0]
    for size in sorted({*small, *(lines // size for size in small)}, reverse=True):
        if activation_bytes(model, *config.longest_micro_batch(size)) <= config.budget:
            return size
    raise ValueError("not even one line fits")
