"""Returns the denominator of the last micro-batch: the sum begins anew with each of them."""

EXERCISE = "window_denominator"
MISTAKES = ("micro-batches-left-out",)
LOST = ("count", "weights", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    for part in targets:
        kept = part[part != ignore_index]
        total = len(kept) if weight is None else weight[kept].sum()
    return total
