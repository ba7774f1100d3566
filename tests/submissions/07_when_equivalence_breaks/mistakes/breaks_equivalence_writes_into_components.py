"""Writes its answers into the dictionary of the components."""

from gradaccum.components import COMPONENTS

EXERCISE = "breaks_equivalence"
MISTAKES = ()
LOST = (
    "layers",
    "updates",
    "clipping and losses",
)


def breaks_equivalence():
    broken = {"batchnorm-training", "step-per-micro-batch", "clip-per-micro-batch", "contrastive-loss"}
    answers = COMPONENTS
    for key in answers:
        answers[key] = key in broken
    return answers
