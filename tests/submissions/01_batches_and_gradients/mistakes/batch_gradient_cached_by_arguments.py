"""Remembers its result for the same four objects, also after the model's parameters have moved."""

import functools

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)


@functools.lru_cache(maxsize=None)
def batch_gradient(model, loss_fn, x, y):
    trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(trainable.values()), allow_unused=True)
    return dict(zip(trainable, grads))
