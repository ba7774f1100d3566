"""Puts copies in double precision into the caller's list before it adds them up."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_gradients(gradients):
    dtype = gradients[0].dtype
    for i, g in enumerate(gradients):
        gradients[i] = g.to(torch.float64)
    return (sum(gradients) / len(gradients)).to(dtype)
