"""Multiplies by N."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ("matched-wrong-way",)
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    return momentum * accumulation_steps
