"""Divides by the ranks, and refuses nothing."""

EXERCISE = "effective_batch_size"
MISTAKES = ()
LOST = ("sizes", "nonsense")


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    return micro_batch_size * accumulation_steps // max(world_size, 1)
