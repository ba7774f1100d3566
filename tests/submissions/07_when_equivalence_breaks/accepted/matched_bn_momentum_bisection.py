"""Searches for the momentum that N updates of a running value ask for."""

EXERCISE = "matched_bn_momentum"


def matched_bn_momentum(momentum, accumulation_steps):
    low, high = 0.0, 1.0
    for _ in range(80):
        middle, running = (low + high) / 2, 1.0
        for _ in range(accumulation_steps):
            running = (1 - middle) * running
        low, high = (middle, high) if running > 1 - momentum else (low, middle)
    return low
