"""Takes targets of class 0 for padding."""

EXERCISE = "window_denominator"
MISTAKES = ("first-class-left-out",)
LOST = ("count", "weights", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    total = 0.0
    for part in targets:
        words = part[(part > 0) & (part != ignore_index)]
        total += len(words) if weight is None else float(weight[words].sum())
    return total
