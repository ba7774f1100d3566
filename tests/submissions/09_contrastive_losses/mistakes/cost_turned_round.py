"""Returns bytes first."""

EXERCISE = "accumulation_cost"
MISTAKES = ("cost-turned-round",)
LOST = ("forwards", "bytes", "single")


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 0, 1
    return 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize, 2
