"""Counts samples, and turns a TypeError into a ValueError."""

import operator

EXERCISE = "effective_batch_size"


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    try:
        samples = sum(micro_batch_size for _ in range(accumulation_steps) for _ in range(world_size))
        fine = operator.index(samples) >= 1 and micro_batch_size > 0 and accumulation_steps > 0
    except TypeError as error:
        raise ValueError("a size is a whole number") from error
    if not fine:
        raise ValueError("a size is at least 1")
    return samples
