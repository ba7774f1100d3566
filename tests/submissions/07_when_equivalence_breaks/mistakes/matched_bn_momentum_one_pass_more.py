"""Counts the pass of the large batch as well."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ("passes-off-by-one",)
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    passes = accumulation_steps + 1
    return 1 - (1 - momentum) ** (1 / passes)
