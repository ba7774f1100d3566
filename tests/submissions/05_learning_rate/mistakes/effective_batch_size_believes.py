"""Multiplies whatever it is given."""

EXERCISE = "effective_batch_size"
MISTAKES = ()
LOST = ("nonsense",)


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    return micro_batch_size * accumulation_steps * world_size
