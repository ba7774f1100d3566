"""Lets the whole window through the encoders for every micro-batch."""

EXERCISE = "accumulation_cost"
MISTAKES = ("window-for-each",)
LOST = ("forwards",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 1, 0
    return accumulation_steps, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize
