"""Takes the root of the wrong number."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ("kept-not-taken",)
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    return momentum ** (1 / accumulation_steps)
