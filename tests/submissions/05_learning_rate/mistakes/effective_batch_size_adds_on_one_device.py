"""Adds in the branch for one device. No named mistake."""

EXERCISE = "effective_batch_size"
MISTAKES = ()
LOST = ("sizes",)


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    for v in (micro_batch_size, accumulation_steps, world_size):
        if not isinstance(v, int) or v < 1:
            raise ValueError("whole numbers of at least 1")
    if world_size > 1:
        return micro_batch_size * accumulation_steps * world_size
    return micro_batch_size + accumulation_steps
