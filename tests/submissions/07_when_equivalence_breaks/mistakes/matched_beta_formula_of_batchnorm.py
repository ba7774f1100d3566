"""The formula for BatchNorm's momentum."""

EXERCISE = "matched_beta"
MISTAKES = ("beta-is-kept",)
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return 1 - (1 - beta) ** (1 / accumulation_steps)
