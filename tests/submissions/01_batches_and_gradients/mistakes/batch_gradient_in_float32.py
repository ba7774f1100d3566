"""Returns float32, whatever dtype the parameters have."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("gradient", "frozen", "untouched")


def batch_gradient(model, loss_fn, x, y):
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), tuple(trainable.values()), allow_unused=True)
    return {name: g.float() for name, g in zip(trainable, gradients, strict=True) if g is not None}
