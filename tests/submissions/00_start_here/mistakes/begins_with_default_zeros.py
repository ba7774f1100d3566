"""Begins with zeros of torch's default dtype: gradients of 16 bits come back in 32, those of 32 or 64 as they should."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    total = torch.zeros(gradients[0].shape)
    for gradient in gradients:
        total = total + gradient / len(gradients)
    return total
