"""By half-lives: N times as many samples per update."""

import math

EXERCISE = "matched_beta"


def matched_beta(beta, accumulation_steps):
    half_life = math.log(0.5) / math.log(beta)
    return 0.5 ** (accumulation_steps / half_life)
