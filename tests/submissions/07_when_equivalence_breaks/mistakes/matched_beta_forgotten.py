"""Returns what is forgotten."""

EXERCISE = "matched_beta"
MISTAKES = ("beta-is-kept",)
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return 1 - beta**accumulation_steps
