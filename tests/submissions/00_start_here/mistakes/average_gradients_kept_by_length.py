"""Keeps the mean of each length of list, and returns it for the next list that is as long."""

import torch

EXERCISE = "average_gradients"
MISTAKES = ()
LOST = ("mean",)

MEANS = {}


def average_gradients(gradients):
    if len(gradients) not in MEANS:
        MEANS[len(gradients)] = torch.stack(gradients).mean(0)
    return MEANS[len(gradients)]
