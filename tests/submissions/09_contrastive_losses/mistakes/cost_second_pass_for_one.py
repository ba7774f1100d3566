"""Lets a single micro-batch through its encoder twice, although nothing is cached."""

EXERCISE = "accumulation_cost"
MISTAKES = ("single-cached",)
LOST = ("single",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 2, 0
    return 2, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize
