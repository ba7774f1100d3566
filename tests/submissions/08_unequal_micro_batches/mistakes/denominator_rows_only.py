"""Counts rows where nothing is ignored."""

EXERCISE = "window_denominator"
MISTAKES = ("counts-rows",)
LOST = ("count",)


def window_denominator(targets, weight=None, ignore_index=-100):
    kept = [part[part != ignore_index] for part in targets]
    if weight is not None:
        return float(sum(weight[part].sum() for part in kept))
    return sum(len(part) if (part != ignore_index).all() else len(rest) for part, rest in zip(targets, kept, strict=True))
