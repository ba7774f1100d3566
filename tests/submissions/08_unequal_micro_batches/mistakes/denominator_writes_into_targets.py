"""Writes 0 over the ignored targets that it was given, and leaves it there."""

EXERCISE = "window_denominator"
MISTAKES = ()
LOST = ("count", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    total = 0.0
    for part in targets:
        counts = part != ignore_index
        part[~counts] = 0
        total += counts.sum() if weight is None else (weight[part] * counts).sum()
    return total
