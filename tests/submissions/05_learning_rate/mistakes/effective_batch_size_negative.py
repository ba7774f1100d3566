"""Looks at the sign of the product only."""

EXERCISE = "effective_batch_size"
MISTAKES = ()
LOST = ("nonsense",)


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    sizes = (micro_batch_size, accumulation_steps, world_size)
    if any(not isinstance(size, int) or size == 0 for size in sizes):
        raise ValueError("sizes are whole numbers of at least 1")
    product = micro_batch_size * accumulation_steps * world_size
    if product < 1 and world_size > 0:
        raise ValueError("sizes are positive")
    return product
