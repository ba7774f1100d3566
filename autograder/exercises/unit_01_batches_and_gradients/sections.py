"""Sections of this unit that show certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "Two ways to ask for a gradient": ("frozen-returned", "frozen-thawed", "grad-touched"),
    "Adding is not averaging": (
        "sums-samples",
        "samples-divided-twice",
        "divided-again-and-again",
        "other-divisor",
        "sum-reduction",
    ),
}
"""By heading, as it stands in the notebook, the slugs of mistakes."""
