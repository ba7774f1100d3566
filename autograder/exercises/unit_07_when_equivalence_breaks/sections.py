"""The sections of this unit's notebook that explain certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "The optimizer is innocent": ("optimizer-blamed",),
    "Why: does a sample see the others?": ("sound-layer-blamed", "batchnorm-trusted"),
}
"""Slugs of mistakes by the heading of the section, exactly as it is written in the notebook."""
