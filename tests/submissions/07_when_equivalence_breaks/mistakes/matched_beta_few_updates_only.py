"""Treats ten updates or more as ten."""

EXERCISE = "matched_beta"
MISTAKES = ()
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    left = 1.0
    for _ in range(accumulation_steps)[:10]:
        left = left * beta
    return left
