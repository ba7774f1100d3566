"""Adds the passes of both encoders."""

EXERCISE = "accumulation_cost"
MISTAKES = ("encoders-added",)
LOST = ("forwards",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 1, 0
    return 4, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize
