"""Returns the number as a text."""

EXERCISE = "matched_beta"
MISTAKES = ()
LOST = ("beta",)


def matched_beta(beta, accumulation_steps):
    return f"{beta**accumulation_steps:.5g}"
