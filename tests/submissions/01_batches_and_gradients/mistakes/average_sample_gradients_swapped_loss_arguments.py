"""Hands the targets to the loss function as its predictions."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("loss-arguments-swapped",)
LOST = ("mean", "summed", "untouched")


def average_sample_gradients(model, loss_fn, x, y):
    parameters = dict(model.named_parameters())
    sums = {name: torch.zeros_like(p) for name, p in parameters.items()}
    for i in range(len(x)):
        loss = loss_fn(y[i : i + 1], model(x[i : i + 1]))
        for name, g in zip(parameters, torch.autograd.grad(loss, list(parameters.values())), strict=True):
            sums[name] += g / len(x)
    return sums
