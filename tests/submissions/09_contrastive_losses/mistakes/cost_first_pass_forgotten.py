"""Counts only the pass with a graph."""

EXERCISE = "accumulation_cost"
MISTAKES = ("first-pass-forgotten",)
LOST = ("forwards",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 1, 0
    return 1, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize
