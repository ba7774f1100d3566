"""One rank at a time, by recursion."""

EXERCISE = "effective_batch_size"


def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    if any(not isinstance(n, int) or n <= 0 for n in (micro_batch_size, accumulation_steps, world_size)):
        raise ValueError("no batch has fewer than one sample")
    here = micro_batch_size * accumulation_steps
    return here if world_size == 1 else here + effective_batch_size(micro_batch_size, accumulation_steps, world_size - 1)
