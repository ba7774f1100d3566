"""Returns what is forgotten. No named mistake."""

EXERCISE = "matched_beta"
MISTAKES = ()
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return 1 - beta**accumulation_steps
