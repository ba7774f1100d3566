"""Stacks the gradients and takes the mean over the new dimension."""

import torch

EXERCISE = "average_gradients"


def average_gradients(gradients):
    return torch.stack(gradients).mean(dim=0)
