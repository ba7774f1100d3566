"""Takes the median."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    return torch.stack(gradients).median(0).values
