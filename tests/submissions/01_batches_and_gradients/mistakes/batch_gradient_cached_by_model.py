"""Keeps its result for each model and returns it again, whatever the batch is."""

from weakref import WeakKeyDictionary

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("untouched",)

KNOWN = WeakKeyDictionary()


def batch_gradient(model, loss_fn, x, y):
    if model not in KNOWN:
        trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
        loss = loss_fn(model(x), y)
        gradients = torch.autograd.grad(loss, tuple(trainable.values()), allow_unused=True)
        KNOWN[model] = dict(zip(trainable, gradients, strict=True))
    return KNOWN[model]
