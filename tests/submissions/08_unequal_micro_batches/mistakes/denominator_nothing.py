"""Works it out and returns nothing."""

EXERCISE = "window_denominator"
MISTAKES = ()
LOST = ("count", "weights", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    sum(int((part != ignore_index).sum()) for part in targets)
