"""Never returns more than the largest batch of the published table."""

EXERCISE = "effective_batch_size"
MISTAKES = ()
LOST = ("sizes",)


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    for number in (micro_batch_size, accumulation_steps, world_size):
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"{number!r} is not a whole number of at least 1")
    return min(micro_batch_size * accumulation_steps * world_size, 4096)
