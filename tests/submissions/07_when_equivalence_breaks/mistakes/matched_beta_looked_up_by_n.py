"""Keeps the answer for each N, whatever β of a later call is."""

EXERCISE = "matched_beta"
MISTAKES = ()
LOST = ("beta",)

known = {}


def matched_beta(beta, accumulation_steps):
    return known.setdefault(accumulation_steps, beta**accumulation_steps)
