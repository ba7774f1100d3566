"""One branch for each rule."""

import math

EXERCISE = "scale_learning_rate"


def scale_learning_rate(lr, reference_batch, batch, rule):
    if rule == "none":
        return lr
    if rule == "linear":
        return lr / reference_batch * batch
    if rule == "sqrt":
        return lr * math.sqrt(batch) / math.sqrt(reference_batch)
    raise ValueError("the rule is none, linear or sqrt")
