"""Returns a word."""

EXERCISE = "accumulation_cost"
MISTAKES = ()
LOST = ("forwards", "bytes", "single")


def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    return "two forward passes"
