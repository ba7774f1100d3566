"""Returns no more than 0.9. No named mistake."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ()
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    return min(0.9, 1 - (1 - momentum) ** (1 / accumulation_steps))
