"""Adds the weight that an ignored target has as a negative index."""

EXERCISE = "window_denominator"
MISTAKES = ()
LOST = ("ignored",)


def window_denominator(targets, weight=None, ignore_index=-100):
    if weight is None:
        return sum((t != ignore_index).sum() for t in targets)
    return sum(weight[t.clamp(min=-1)].sum() for t in targets)
