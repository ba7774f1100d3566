"""Sections of this unit that show certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "Explore: who is compared with whom": ("local-negatives", "negatives-so-far"),
    '"The sum, effectively the mean"': ("window-loss-over-n", "temperature-times-n"),
    "The loss": ("temperature-forgotten", "directions-added", "one-direction"),
}
"""By heading, as it stands in the notebook, the slugs of mistakes."""
