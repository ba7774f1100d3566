"""Counts the rows of targets that have several."""

EXERCISE = "window_denominator"
MISTAKES = ("counts-rows",)
LOST = ("count",)


def window_denominator(targets, weight=None, ignore_index=-100):
    if weight is None:
        return sum(len(t[t != ignore_index]) if t.dim() == 1 else len(t) for t in targets)
    return sum(weight[t[t != ignore_index]].sum() for t in targets)
