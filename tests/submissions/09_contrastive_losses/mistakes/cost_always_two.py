"""Forgets that one micro-batch needs no cache."""

EXERCISE = "accumulation_cost"
MISTAKES = ("single-cached",)
LOST = ("single",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    return 2, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize
