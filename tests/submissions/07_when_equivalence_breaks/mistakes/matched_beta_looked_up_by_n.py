"""Keeps the answer for each N, and gives it for every other β."""

EXERCISE = "matched_beta"
MISTAKES = ()
LOST = ("beta",)

known = {}


def matched_beta(beta, accumulation_steps):
    return known.setdefault(accumulation_steps, beta**accumulation_steps)
