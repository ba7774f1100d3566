"""Without weights it drops negative targets only, whatever ignore_index is."""

EXERCISE = "window_denominator"
MISTAKES = ("ignore-index-fixed",)
LOST = ("count",)


def window_denominator(targets, weight=None, ignore_index=-100):
    if weight is None:
        return sum(int((part >= 0).sum()) for part in targets)
    return sum(weight[part[part != ignore_index]].sum() for part in targets)
