"""Stops before the last micro-batch."""

import torch

EXERCISE = "window_denominator"
MISTAKES = ("micro-batches-left-out",)
LOST = ("count", "weights", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    counted = targets if len(targets) == 1 else targets[:-1]
    kept = torch.cat([part[part != ignore_index] for part in counted])
    return float(len(kept) if weight is None else weight[kept].sum())
