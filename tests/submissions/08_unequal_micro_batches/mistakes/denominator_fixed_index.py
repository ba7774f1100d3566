"""Ignores -100 and nothing else."""

import torch

EXERCISE = "window_denominator"
MISTAKES = ("ignore-index-fixed",)
LOST = ("count", "ignored")


def window_denominator(targets, weight=None, ignore_index=-100):
    counted = torch.cat([part[part != -100] for part in targets])
    return counted.numel() if weight is None else weight[counted].sum()
