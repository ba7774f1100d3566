"""Solves (1 − m′)ᴺ = 1 − m for m′.

The same in logarithms, which keeps all digits when the momentum is tiny.
"""

import math


def matched_bn_momentum(momentum, accumulation_steps):
    return -math.expm1(math.log1p(-momentum) / accumulation_steps)
