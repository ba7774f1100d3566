"""A table of powers: all three rules are one formula.

Spells each rule out as a case of its own.
"""

import math


def scale_learning_rate(lr, reference_batch, batch, rule):
    ratio = batch / reference_batch
    match rule:
        case "none":
            return lr
        case "linear":
            return lr * ratio
        case "sqrt":
            return lr * math.sqrt(ratio)
        case _:
            raise ValueError(f"there is no rule {rule!r}; choose none, linear or sqrt")
