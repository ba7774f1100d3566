"""Rounds to five decimals."""

EXERCISE = "matched_bn_momentum"


def matched_bn_momentum(momentum, accumulation_steps):
    return round(1 - (1 - momentum) ** (1 / accumulation_steps), 5)
