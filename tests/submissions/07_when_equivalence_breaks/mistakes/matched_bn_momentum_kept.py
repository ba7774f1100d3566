"""Returns what is kept."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ("kept-not-taken",)
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    return (1 - momentum) ** (1 / accumulation_steps)
