"""Goes through an iterator of the names, which is used up after the first call. No named mistake."""

from gradaccum.components import COMPONENTS

EXERCISE = "breaks_equivalence"
MISTAKES = ()
LOST = ("layers", "updates", "clipping and losses")

names = iter(COMPONENTS)
culprits = {"batchnorm-training", "step-per-micro-batch", "clip-per-micro-batch", "contrastive-loss"}


def breaks_equivalence():
    return {name: name in culprits for name in names}
