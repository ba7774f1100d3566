"""Trains while it is at it."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("parameters-moved",)
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True)
    with torch.no_grad():
        for p, g in zip(named.values(), gradients, strict=True):
            if g is not None:
                p -= 0.1 * g
    return {name: g for name, g in zip(named, gradients, strict=True) if g is not None}
