"""The sections of this unit's notebook that explain certain mistakes, whichever exercise they were made in."""

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
"""Slugs of mistakes by the heading of the section, exactly as it is written in the notebook."""
