"""Rounds to five decimals."""

EXERCISE = "matched_beta"


def matched_beta(beta, accumulation_steps):
    return round(beta**accumulation_steps, 5)
