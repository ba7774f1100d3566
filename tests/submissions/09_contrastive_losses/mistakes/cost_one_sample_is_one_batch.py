"""Treats micro-batches of one sample as if nothing were accumulated."""

EXERCISE = "accumulation_cost"
MISTAKES = ()
LOST = ("forwards", "bytes")


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if micro_batch_size == 1 or accumulation_steps == 1:
        return 1, 0
    return 2, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize
