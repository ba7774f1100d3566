"""Adds up in float64 and returns that, whatever dtype the gradients have."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    total = torch.zeros(gradients[0].shape, dtype=torch.float64, device=gradients[0].device)
    for gradient in gradients:
        total += gradient
    return total / len(gradients)
