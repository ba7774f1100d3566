"""Looks up the weight of every target but turns ignored ones into class 0 first."""

import torch

EXERCISE = "window_denominator"
MISTAKES = ("counts-ignored",)
LOST = ("count", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    every = torch.cat([part.flatten() for part in targets])
    if weight is None:
        return len(every)
    return weight[every.masked_fill(every == ignore_index, 0)].sum()
