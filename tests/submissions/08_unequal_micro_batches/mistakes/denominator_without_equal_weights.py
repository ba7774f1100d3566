"""Counts targets where all classes have the same weight, although each target still has that weight."""

EXERCISE = "window_denominator"
MISTAKES = ()
LOST = ("weights",)


def window_denominator(targets, weight=None, ignore_index=-100):
    if weight is not None and bool((weight == weight[0]).all()):
        weight = None
    kept = [part[part != ignore_index] for part in targets]
    return float(sum(len(part) if weight is None else weight[part].sum() for part in kept))
