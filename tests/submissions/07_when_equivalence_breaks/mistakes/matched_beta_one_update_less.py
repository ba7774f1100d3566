"""Leaves out the first update, before which there is nothing to forget."""

EXERCISE = "matched_beta"
MISTAKES = ("passes-off-by-one",)
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    left = 1.0
    for _ in range(1, accumulation_steps):
        left = left * beta
    return left
