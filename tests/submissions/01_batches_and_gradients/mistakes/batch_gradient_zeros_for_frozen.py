"""Gives a frozen parameter a gradient of zeros."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("frozen-returned",)
LOST = ("frozen",)


def batch_gradient(model, loss_fn, x, y):
    trainable = [p for p in model.parameters() if p.requires_grad]
    gradients = iter(torch.autograd.grad(loss_fn(model(x), y), trainable, materialize_grads=True))
    return {name: next(gradients) if p.requires_grad else torch.zeros_like(p) for name, p in model.named_parameters()}
