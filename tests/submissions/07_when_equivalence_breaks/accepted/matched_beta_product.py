"""Multiplies N times."""

EXERCISE = "matched_beta"


def matched_beta(beta, accumulation_steps):
    left = 1.0
    for _ in range(accumulation_steps):
        left *= beta
    return left
