"""Divides the momentum by N where it is below BatchNorm's usual one."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ()
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    if momentum < 0.1:
        return momentum / accumulation_steps
    return 1 - (1 - momentum) ** (1 / accumulation_steps)
