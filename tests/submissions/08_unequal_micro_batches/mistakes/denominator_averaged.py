"""The mean of the micro-batches' denominators."""

EXERCISE = "window_denominator"
MISTAKES = ("mean-of-denominators",)
LOST = ("count", "weights", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    parts = [part[part != ignore_index] for part in targets]
    return sum(float(len(part) if weight is None else weight[part].sum()) for part in parts) / len(parts)
