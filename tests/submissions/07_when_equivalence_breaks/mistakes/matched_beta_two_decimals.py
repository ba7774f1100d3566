"""Rounds to two decimals."""

EXERCISE = "matched_beta"
MISTAKES = ("rounded",)
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return round(beta**accumulation_steps, 2)
