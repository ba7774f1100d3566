"""Multiplies what is forgotten by N."""

EXERCISE = "matched_beta"
MISTAKES = ("beta-first-order",)
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return 1 - (1 - beta) * accumulation_steps
