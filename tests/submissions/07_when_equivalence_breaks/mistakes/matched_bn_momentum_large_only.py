"""Divides a small momentum by N, which comes close, and takes the root only where it is large."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ()
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    if momentum < 0.2:
        return momentum / accumulation_steps
    return 1 - (1 - momentum) ** (1 / accumulation_steps)
