"""Averages each gradient's own entries."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    return torch.stack(gradients).mean(1)
