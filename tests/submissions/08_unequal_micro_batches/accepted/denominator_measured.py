"""Measures it: with equal logits the loss of a target is its weight times log of the number of classes."""

import math

import torch
from torch.nn import functional as F

EXERCISE = "window_denominator"


def window_denominator(targets, weight=None, ignore_index=-100):
    classes = 1 + max(int(part.max()) for part in targets) if weight is None else len(weight)
    classes, total = max(2, classes), 0.0
    for part in targets:
        logits = torch.zeros(part.numel(), classes, dtype=torch.float64, device=part.device)
        used = None if weight is None else weight.double()
        total += float(F.cross_entropy(logits, part.flatten(), used, ignore_index=ignore_index, reduction="sum"))
    return total / math.log(classes)
