"""Looks up the weights of ignored targets, too, after clamping them to a class."""

EXERCISE = "window_denominator"
MISTAKES = ("counts-ignored",)
LOST = ("ignored",)


def window_denominator(targets, weight=None, ignore_index=-100):
    if weight is None:
        return sum(int((part != ignore_index).sum()) for part in targets)
    return sum(weight[part.clamp(min=0)].sum().item() for part in targets)
