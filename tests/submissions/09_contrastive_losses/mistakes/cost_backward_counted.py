"""Counts the backward pass as one more."""

EXERCISE = "accumulation_cost"
MISTAKES = ("backward-counted",)
LOST = ("forwards",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 1, 0
    return 3, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize
