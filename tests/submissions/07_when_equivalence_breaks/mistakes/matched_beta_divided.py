"""Divides by N."""

EXERCISE = "matched_beta"
MISTAKES = ("beta-divided",)
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return beta / accumulation_steps
