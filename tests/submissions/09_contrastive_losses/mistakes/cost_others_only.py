"""Leaves the live micro-batch out of the cache."""

EXERCISE = "accumulation_cost"
MISTAKES = ("others-only",)
LOST = ("bytes",)


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    if accumulation_steps == 1:
        return 1, 0
    return 2, 2 * micro_batch_size * (accumulation_steps - 1) * width * dtype.itemsize
