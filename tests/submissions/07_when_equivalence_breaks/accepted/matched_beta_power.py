"""A power."""

EXERCISE = "matched_beta"


def matched_beta(beta, accumulation_steps):
    return beta**accumulation_steps
