"""Keeps the optimizer of the first call for each model, so that a later call's lr is ignored."""

import weakref

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


OPTIMIZERS = weakref.WeakKeyDictionary()


def sgd_step(model, loss_fn, x, y, lr):
    if model not in OPTIMIZERS:
        OPTIMIZERS[model] = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr)
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    OPTIMIZERS[model].step()
    model.zero_grad()
    return loss.item()
