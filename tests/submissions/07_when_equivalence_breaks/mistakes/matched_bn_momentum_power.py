"""What N updates do together."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ("matched-wrong-way",)
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    return 1 - (1 - momentum) ** accumulation_steps
