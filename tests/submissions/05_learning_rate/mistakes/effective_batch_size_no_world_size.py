"""Takes None for a world size of one."""

EXERCISE = "effective_batch_size"
MISTAKES = ()
LOST = ("nonsense",)


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    sizes = (micro_batch_size, accumulation_steps, 1 if world_size is None else world_size)
    if any(not isinstance(size, int) or size < 1 for size in sizes):
        raise ValueError("sizes are whole numbers of at least 1")
    return sizes[0] * sizes[1] * sizes[2]
