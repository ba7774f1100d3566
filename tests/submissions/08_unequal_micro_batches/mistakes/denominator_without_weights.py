"""Counts targets, whatever they weigh."""

EXERCISE = "window_denominator"
MISTAKES = ("weights-left-out",)
LOST = ("weights", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    return sum(int((part != ignore_index).sum()) for part in targets)
