"""Refuses a batch of one sample."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("gradient",)


def batch_gradient(model, loss_fn, x, y):
    assert len(x) > 1, "this is not a batch"
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    gradients = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
    return {name: g for name, g in zip(trainable, gradients, strict=True) if g is not None}
