"""Returns float32, whatever dtype the gradients have."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    return torch.stack(gradients).float().mean(0)
