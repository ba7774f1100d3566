"""Divides the forgotten share by N where it is large."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ()
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    if momentum > 0.5:
        return momentum / accumulation_steps
    return 1 - (1 - momentum) ** (1 / accumulation_steps)
