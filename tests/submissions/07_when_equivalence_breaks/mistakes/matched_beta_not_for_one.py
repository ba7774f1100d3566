"""Refuses N = 1."""

EXERCISE = "matched_beta"
MISTAKES = ()
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    if accumulation_steps < 2:
        raise ValueError("nothing is accumulated")
    return beta**accumulation_steps
