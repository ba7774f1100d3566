"""Collects the numbers and multiplies by math.prod."""

import math

EXERCISE = "effective_batch_size"


def effective_batch_size(*args, **keywords):
    sizes = list(args) + list(keywords.values())
    if not all(type(size) is int and size > 0 for size in sizes):
        raise ValueError("sizes must be positive whole numbers")
    return math.prod(sizes)
