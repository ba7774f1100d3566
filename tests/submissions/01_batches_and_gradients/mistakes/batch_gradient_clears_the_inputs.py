"""Overwrites the inputs once it has used them."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)


def batch_gradient(model, loss_fn, x, y):
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    gradients = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
    x.zero_()
    return {name: g for name, g in zip(trainable, gradients, strict=True) if g is not None}
