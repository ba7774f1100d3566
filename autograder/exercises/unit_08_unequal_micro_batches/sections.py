"""Sections of this unit that show certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "Targets that do not count": (
        "padding-counted",
        "ignore-index-fixed",
        "empty-is-nan",
        "empty-window-is-nan",
        "empty-skipped",
    ),
    "The loop you already have": ("sequences-for-tokens",),
}
"""By heading, as it stands in the notebook, the slugs of mistakes."""
