"""Keeps the answer for each number of pairs and width, and gives it for every other dtype."""

EXERCISE = "accumulation_cost"
MISTAKES = ()
LOST = ("bytes",)

known = {}


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    key = micro_batch_size, accumulation_steps, width
    if key not in known:
        numbers = 2 * micro_batch_size * accumulation_steps * width
        known[key] = (1, 0) if accumulation_steps == 1 else (2, numbers * dtype.itemsize)
    return known[key]
