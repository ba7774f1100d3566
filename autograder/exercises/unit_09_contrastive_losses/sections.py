"""The sections of this unit's notebook that explain certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "Explore: who is compared with whom": ("local-negatives", "negatives-so-far"),
    '"The sum, effectively the mean"': ("window-loss-over-n", "temperature-times-n"),
    "The loss": ("temperature-forgotten", "directions-added", "one-direction"),
}
"""Slugs of mistakes by the heading of the section, exactly as it is written in the notebook."""
