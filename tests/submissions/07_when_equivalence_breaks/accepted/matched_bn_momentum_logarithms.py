"""By logarithms, as one does with half-lives."""

import math

EXERCISE = "matched_bn_momentum"


def matched_bn_momentum(momentum, accumulation_steps):
    return -math.expm1(math.log1p(-momentum) / accumulation_steps)
