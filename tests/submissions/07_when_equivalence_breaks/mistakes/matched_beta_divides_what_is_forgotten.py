"""The wrong way round, to first order."""

EXERCISE = "matched_beta"
MISTAKES = ("beta-wrong-way",)
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return 1 - (1 - beta) / accumulation_steps
