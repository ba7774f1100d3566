"""Returns no more than a usual coefficient. No named mistake."""

EXERCISE = "matched_beta"
MISTAKES = ()
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return min(beta**accumulation_steps, 0.99)
