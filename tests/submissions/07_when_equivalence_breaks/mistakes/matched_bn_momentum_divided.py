"""Divides by N."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ("momentum-divided",)
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    return momentum / accumulation_steps
