"""Switches dropout off by its probability, and leaves it off."""

import torch
from torch import nn

EXERCISE = "average_sample_gradients"
MISTAKES = ()
LOST = ("mean", "untouched")


def average_sample_gradients(model, loss_fn, x, y):
    for layer in model.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    names, parameters = zip(*model.named_parameters(), strict=True)
    losses = [loss_fn(model(a), b) for a, b in zip(x.split(1), y.split(1), strict=True)]
    return dict(zip(names, torch.autograd.grad(sum(losses) / len(losses), parameters), strict=True))
