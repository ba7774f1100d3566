"""Counts in a byte, which is full after 255 targets."""

import torch

EXERCISE = "window_denominator"
MISTAKES = ()
LOST = ("count",)


def window_denominator(targets, weight=None, ignore_index=-100):
    kept = [part[part != ignore_index] for part in targets]
    if weight is not None:
        return sum(float(weight[part].sum()) for part in kept)
    return sum(int(torch.ones_like(part).sum(dtype=torch.uint8)) for part in kept)
