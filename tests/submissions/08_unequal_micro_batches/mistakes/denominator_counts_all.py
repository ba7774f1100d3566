"""Adds one for each ignored target."""

EXERCISE = "window_denominator"
MISTAKES = ("counts-ignored",)
LOST = ("count", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    total = 0.0
    for part in targets:
        keep = part != ignore_index
        total += float(keep.sum() if weight is None else weight[part[keep]].sum()) + float((~keep).sum())
    return total
