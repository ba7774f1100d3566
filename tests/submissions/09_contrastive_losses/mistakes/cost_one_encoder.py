"""Counts the features of one encoder."""

EXERCISE = "accumulation_cost"
MISTAKES = ("one-encoder",)
LOST = ("bytes",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 1, 0
    return 2, micro_batch_size * accumulation_steps * width * dtype.itemsize
