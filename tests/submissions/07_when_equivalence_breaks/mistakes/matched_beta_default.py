"""Knows the usual coefficient only."""

EXERCISE = "matched_beta"
MISTAKES = ("fixed-number",)
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return 0.9**accumulation_steps
