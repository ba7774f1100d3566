"""Adds the weight of each class that occurs once."""

import torch

EXERCISE = "window_denominator"
MISTAKES = ()
LOST = ("ignored", "weights")


def window_denominator(targets, weight=None, ignore_index=-100):
    kept = torch.cat([t.flatten() for t in targets])
    kept = kept[kept != ignore_index]
    return len(kept) if weight is None else weight[kept.unique()].sum()
