"""Computes the mean squared error, whatever loss it is given."""

import torch
from torch.nn import functional as F

EXERCISE = "batch_gradient"
MISTAKES = ("loss-of-its-own",)
LOST = ("gradient", "frozen", "untouched")


def batch_gradient(model, loss_fn, x, y):
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = F.mse_loss(model(x), y)
    gradients = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
    return {name: g for name, g in zip(trainable, gradients, strict=True) if g is not None}
