"""Takes zero for a size."""

EXERCISE = "effective_batch_size"
MISTAKES = ()
LOST = ("nonsense",)


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    for number in (micro_batch_size, accumulation_steps, world_size):
        if not isinstance(number, int) or number < 0:
            raise ValueError(f"not a size: {number!r}")
    return micro_batch_size * accumulation_steps * world_size
