"""Seeds the random numbers of torch."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    torch.manual_seed(0)
    return torch.stack(gradients).mean(0)
