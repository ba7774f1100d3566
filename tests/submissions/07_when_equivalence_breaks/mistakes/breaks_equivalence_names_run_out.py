"""Takes names from an iterator, which has none left at the second call. No named mistake."""

from gradaccum.components import COMPONENTS

EXERCISE = "breaks_equivalence"
MISTAKES = ()
LOST = ("layers", "updates", "clipping and losses")
SAYS = ("Called a second time: Your code raised StopIteration",)


BROKEN = iter(["batchnorm-training", "step-per-micro-batch", "clip-per-micro-batch", "contrastive-loss"])


def breaks_equivalence():
    result = dict.fromkeys(COMPONENTS, False)
    for _ in range(4):
        result[next(BROKEN)] = True
    return result
