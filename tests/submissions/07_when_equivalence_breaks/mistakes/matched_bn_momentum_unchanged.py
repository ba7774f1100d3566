"""Believes that nothing has to change."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ("momentum-unchanged",)
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    return momentum
