"""Says that nothing breaks it."""

from gradaccum.components import COMPONENTS

EXERCISE = "breaks_equivalence"
MISTAKES = ("batchnorm-trusted", "many-updates-trusted", "micro-clip-trusted", "contrastive-trusted")
LOST = ("layers", "updates", "clipping and losses")


def breaks_equivalence():
    return dict.fromkeys(COMPONENTS, False)
