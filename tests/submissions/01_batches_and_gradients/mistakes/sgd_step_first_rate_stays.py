"""Keeps the optimizer of the first call on the model, so that a later call's lr is ignored."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    if not hasattr(model, "_sgd"):
        model._sgd = torch.optim.SGD(model.parameters(), lr=lr)
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    model._sgd.step()
    model.zero_grad()
    return loss.item()
