"""Keeps the answer for each N, and gives it for every other momentum."""

EXERCISE = "matched_bn_momentum"
MISTAKES = ()
LOST = ("momentum",)

known = {}


def matched_bn_momentum(momentum, accumulation_steps):
    if accumulation_steps not in known:
        known[accumulation_steps] = 1 - (1 - momentum) ** (1 / accumulation_steps)
    return known[accumulation_steps]
