"""Leaves it."""

EXERCISE = "matched_beta"
MISTAKES = ("beta-unchanged",)
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return beta
