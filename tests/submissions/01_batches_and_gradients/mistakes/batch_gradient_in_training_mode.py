"""Computes in training mode, and puts the mode back that it found."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ("training-mode", "mode-changed")
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    was = model.training
    model.train()
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    gradients = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
    model.train(was)
    return {name: g for name, g in zip(trainable, gradients, strict=True) if g is not None}
