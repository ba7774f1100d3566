"""Losses that a function may compute in place of the loss_fn that it is given, and the mistakes of doing so."""

from __future__ import annotations

from torch.nn import functional as F

from gradaccum.diagnosis.catalogue import add_mistake
from gradaccum.problems import LossFn

add_mistake(
    "loss-arguments-swapped",
    "You give loss_fn the target first and the prediction second. It tells the two apart.",
    "Which argument does the exercise say comes first?",
)
add_mistake(
    "loss-of-its-own",
    "You compute a loss of your own choice and not the loss_fn that you are given, which may be any other.",
    "What happens in your function when somebody passes another loss_fn?",
)
add_mistake(
    "targets-not-cut",
    "You compare the prediction for one sample with the targets of all samples.",
    "Which shapes do the two arguments of your loss_fn have? They should be the same.",
)

OWN_LOSSES: tuple[LossFn, ...] = (F.mse_loss, F.l1_loss, F.smooth_l1_loss)
"""What may be written in the place of a loss of numbers."""


def swapped(loss_fn: LossFn) -> LossFn:
    """A loss with its two arguments in the wrong order."""
    return lambda prediction, target: loss_fn(target, prediction)


def squeezed(loss_fn: LossFn) -> LossFn:
    """A loss of predictions that have lost their last dimension: one of a single number is compared with all targets."""
    return lambda prediction, target: loss_fn(prediction.squeeze(-1), target)
