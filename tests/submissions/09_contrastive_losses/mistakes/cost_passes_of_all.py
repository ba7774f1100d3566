"""Counts all passes of the window."""

EXERCISE = "accumulation_cost"
MISTAKES = ("passes-of-all",)
LOST = ("forwards",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 1, 0
    return 2 * accumulation_steps, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize
