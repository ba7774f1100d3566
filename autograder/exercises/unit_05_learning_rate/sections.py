"""Sections of this unit that show certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "A heuristic, not a law": ("lr-multiplied",),
}
"""By heading, as it stands in the notebook, the slugs of mistakes."""
