"""Squeezes the mean, so that an axis of length 1 is lost."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    return torch.stack(gradients).mean(0).squeeze()
