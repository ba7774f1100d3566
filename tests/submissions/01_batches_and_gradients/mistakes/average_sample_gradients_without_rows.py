"""Gives the model each sample without the dimension of samples."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ()
LOST = ("summed",)


def average_sample_gradients(model, loss_fn, x, y):
    names, parameters = zip(*model.named_parameters(), strict=True)
    losses = [loss_fn(model(a), b) for a, b in zip(x, y, strict=True)]
    return dict(zip(names, torch.autograd.grad(sum(losses) / len(losses), parameters), strict=True))
