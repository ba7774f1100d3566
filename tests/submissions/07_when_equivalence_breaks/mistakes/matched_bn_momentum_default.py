"""Knows the default momentum only."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ("fixed-number",)
LOST = ("momentum",)


def matched_bn_momentum(momentum, accumulation_steps):
    kept = 0.9
    return 1 - kept ** (1 / accumulation_steps)
