"""Multiplies B and N, and adds the ranks."""

EXERCISE = "effective_batch_size"
MISTAKES = ("adds-sizes",)
LOST = ("sizes",)


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    sizes = micro_batch_size, accumulation_steps, world_size
    if not all(type(size) is int and size > 0 for size in sizes):
        raise ValueError(f"{sizes} are not three whole numbers of at least 1")
    return micro_batch_size * accumulation_steps + world_size
