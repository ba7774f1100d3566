"""The number of micro-batches."""

EXERCISE = "window_denominator"
MISTAKES = ("counts-micro-batches",)
LOST = ("count", "weights", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    return len(targets)
