"""Adds up the weights of the classes for every micro-batch."""

EXERCISE = "window_denominator"
MISTAKES = ("weights-of-classes",)
LOST = ("weights", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    if weight is None:
        return sum(int((part != ignore_index).sum()) for part in targets)
    return sum(weight.sum().item() for _ in targets)
