"""Counts equal gradients only once."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    return torch.unique(torch.stack(gradients), dim=0).mean(0)
