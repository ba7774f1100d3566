"""Counts one pass and one encoder, for any N."""

EXERCISE = "accumulation_cost"
MISTAKES = ("first-pass-forgotten", "one-encoder")
LOST = ("forwards", "bytes", "single")


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    return 1, micro_batch_size * accumulation_steps * width * dtype.itemsize
