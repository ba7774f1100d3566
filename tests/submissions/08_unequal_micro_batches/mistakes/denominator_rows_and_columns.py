"""Expects two dimensions."""

EXERCISE = "window_denominator"
MISTAKES = ()
LOST = ("count", "weights", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    kept = [t for part in targets for row in part.tolist() for t in row if t != ignore_index]
    return len(kept) if weight is None else sum(weight[t].item() for t in kept)
