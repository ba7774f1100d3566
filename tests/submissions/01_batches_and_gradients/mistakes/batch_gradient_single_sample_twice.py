"""Repeats a single sample and halves the loss, as if that averaged: half the gradient, but for a loss that adds."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("gradient",)


def batch_gradient(model, loss_fn, x, y):
    scale = 1.0
    if len(x) == 1:
        x, y, scale = torch.cat([x, x]), torch.cat([y, y]), 0.5
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(scale * loss_fn(model(x), y), list(parameters.values()), allow_unused=True)
    return dict(zip(parameters, grads))
