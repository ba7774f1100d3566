"""Returns the bytes in place of both numbers."""

EXERCISE = "accumulation_cost"
MISTAKES = ()
LOST = ("forwards",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 1, 0
    cached = 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize
    return cached, cached
