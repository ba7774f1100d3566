"""Refuses N = 1."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ()
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    if accumulation_steps < 2:
        raise ValueError("nothing is accumulated")
    return 1 - (1 - momentum) ** (1 / accumulation_steps)
