"""Multiplies the mean loss by the number of samples."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("sums-samples",)
LOST = ("gradient", "frozen")


def batch_gradient(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y) * len(x)
    gradients = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    return {name: g for name, g in zip(named, gradients, strict=True) if g is not None}
