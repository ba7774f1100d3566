"""Refuses a batch of one sample."""

EXERCISE = "effective_batch_size"
MISTAKES = ()
LOST = ("sizes",)


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    for number in (micro_batch_size, accumulation_steps, world_size):
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"not a size: {number!r}")
    if micro_batch_size * accumulation_steps * world_size < 2:
        raise ValueError("that is no batch")
    return micro_batch_size * accumulation_steps * world_size
