"""Says that everything breaks it."""

from gradaccum.components import COMPONENTS

EXERCISE = "breaks_equivalence"
MISTAKES = ("sound-layer-blamed", "optimizer-blamed", "window-clip-blamed")
LOST = ("layers", "updates", "clipping and losses")


def breaks_equivalence():
    return dict.fromkeys(COMPONENTS, True)
