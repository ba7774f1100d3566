"""The wrong way round."""

EXERCISE = "matched_beta"
MISTAKES = ("beta-wrong-way",)
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return beta ** (1 / accumulation_steps)
