"""Adds up and never divides."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ("no-scale",)
LOST = ("mean",)


def average_gradients(gradients):
    return torch.stack(gradients).sum(0)
