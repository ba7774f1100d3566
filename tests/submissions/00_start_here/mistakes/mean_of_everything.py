"""Averages over all numbers: one number comes out."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    return torch.stack(gradients).mean()
