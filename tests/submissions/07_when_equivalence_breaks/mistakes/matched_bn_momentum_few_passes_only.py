"""Treats ten passes or more as ten."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ()
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    passes = accumulation_steps if accumulation_steps < 10 else 10
    return 1 - (1 - momentum) ** (1 / passes)
