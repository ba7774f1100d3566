"""Takes class 0 for padding."""

import torch

EXERCISE = "window_denominator"
MISTAKES = ("first-class-left-out",)
LOST = ("count", "weights", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    kept = torch.cat([part[part > 0] for part in targets])
    return len(kept) if weight is None else weight[kept].sum()
