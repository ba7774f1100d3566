"""Sections of this unit that show certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "The optimizer is innocent": ("optimizer-blamed",),
    "Why: does a sample see the others?": ("sound-layer-blamed", "batchnorm-trusted"),
}
"""By heading, as it stands in the notebook, the slugs of mistakes."""
