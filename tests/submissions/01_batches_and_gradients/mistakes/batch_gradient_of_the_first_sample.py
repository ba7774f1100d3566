"""Takes the gradient of the first sample for that of the batch."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("single-sample",)
LOST = ("gradient", "frozen")


def batch_gradient(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x[:1]), y[:1]), list(named.values()), allow_unused=True)
    return {name: g for name, g in zip(named, gradients, strict=True) if g is not None}
