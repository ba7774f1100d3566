"""Adds up the samples, in training mode, and puts the modes back."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("sums-samples", "training-mode")
LOST = ("gradient", "frozen", "untouched")


def batch_gradient(model, loss_fn, x, y):
    modes = [layer.training for layer in model.modules()]
    model.train()
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    total = sum(loss_fn(model(a), b) for a, b in zip(x.split(1), y.split(1), strict=True))
    gradients = torch.autograd.grad(total, list(trainable.values()), allow_unused=True)
    for layer, mode in zip(model.modules(), modes, strict=True):
        layer.training = mode
    return dict(zip(trainable, gradients, strict=True))
