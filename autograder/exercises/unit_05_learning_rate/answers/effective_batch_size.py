"""Checks one number after the other, and names the one that is not a size.

Checks and multiplies all numbers at once; a fourth factor would change one line.
"""

import math


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    sizes = micro_batch_size, accumulation_steps, world_size
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        raise ValueError(f"sizes are whole numbers of at least 1, not {sizes}")
    return math.prod(sizes)
