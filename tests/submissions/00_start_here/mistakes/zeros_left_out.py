"""Averages only the gradients that are not zero."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    kept = [g for g in gradients if g.abs().sum() > 0] or gradients
    return torch.stack(kept).mean(0)
