"""Returns no less than a hundredth. No named mistake."""

EXERCISE = "matched_beta"
MISTAKES = ()
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return max(beta**accumulation_steps, 0.01)
