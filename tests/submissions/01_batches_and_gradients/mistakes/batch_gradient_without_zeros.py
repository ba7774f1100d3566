"""Leaves out parameters whose gradient is zero, as if they were unused."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("gradient",)


def batch_gradient(model, loss_fn, x, y):
    trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(trainable.values()), allow_unused=True)
    return {n: g for n, g in zip(trainable, grads) if g is not None and g.any()}
