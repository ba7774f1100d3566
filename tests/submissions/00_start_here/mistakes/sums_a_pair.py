"""Adds up two gradients, and averages more."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    together = torch.stack(gradients)
    return together.sum(0) if len(gradients) == 2 else together.mean(0)
