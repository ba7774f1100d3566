"""Hands the targets to the loss function as its predictions."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("loss-arguments-swapped",)
LOST = ("gradient", "frozen", "untouched")


def batch_gradient(model, loss_fn, x, y):
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(y, model(x))
    gradients = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
    return {name: g for name, g in zip(trainable, gradients, strict=True) if g is not None}
