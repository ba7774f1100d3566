"""The root of what is kept."""

EXERCISE = "matched_bn_momentum"


def matched_bn_momentum(momentum, accumulation_steps):
    return 1 - (1 - momentum) ** (1 / accumulation_steps)
