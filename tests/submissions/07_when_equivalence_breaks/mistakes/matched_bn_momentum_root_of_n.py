"""A square root rule from elsewhere. No named mistake."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ()
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    return momentum / accumulation_steps**0.5
