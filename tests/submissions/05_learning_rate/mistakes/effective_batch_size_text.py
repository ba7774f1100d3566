"""Reads numbers from texts."""

EXERCISE = "effective_batch_size"
MISTAKES = ()
LOST = ("nonsense",)


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    sizes = [int(n) if isinstance(n, str) else n for n in (micro_batch_size, accumulation_steps, world_size)]
    if any(not isinstance(size, int) or size < 1 for size in sizes):
        raise ValueError("sizes are whole numbers of at least 1")
    return sizes[0] * sizes[1] * sizes[2]
