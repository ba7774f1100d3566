"""Adds the passes of both encoders, for a single micro-batch too."""

EXERCISE = "accumulation_cost"
MISTAKES = ("encoders-added",)
LOST = ("forwards", "single")


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 2, 0
    return 4, 2 * micro_batch_size * accumulation_steps * width * dtype.itemsize
