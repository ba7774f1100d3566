"""Plain Python, one target at a time."""

EXERCISE = "window_denominator"


def window_denominator(targets, weight=None, ignore_index=-100):
    every = [target for part in targets for target in part.flatten().tolist() if target != ignore_index]
    if weight is None:
        return len(every)
    prices = weight.tolist()
    return sum(prices[target] for target in every)
