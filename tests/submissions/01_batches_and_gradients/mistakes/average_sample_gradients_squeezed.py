"""Drops all dimensions of size one, those of parameters among them."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_sample_gradients(model, loss_fn, x, y):
    parameters = dict(model.named_parameters())
    rows = [torch.autograd.grad(loss_fn(model(a), b), list(parameters.values())) for a, b in zip(x.split(1), y.split(1))]
    averages = (torch.stack(column).mean(0, keepdim=True).squeeze() for column in zip(*rows))
    return dict(zip(parameters, averages))
