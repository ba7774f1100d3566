"""The sections of this unit's notebook that explain certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "One line": ("tail-scale", "token-mean-of-means"),
    "A trainer with hooks": ("double-scale",),
    "Stretch: what was meant": ("test-without-steps",),
}
"""Slugs of mistakes by the heading of the section, exactly as it is written in the notebook."""
