"""Clears and moves only what holds finite numbers: where .grad is infinite nothing moves, and elsewhere everything does."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("clean",)


def sgd_step(model, loss_fn, x, y, lr):
    for parameter in model.parameters():
        if parameter.grad is not None and torch.isfinite(parameter.grad).all():
            parameter.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad and parameter.grad is not None and torch.isfinite(parameter.grad).all():
                parameter -= lr * parameter.grad
                parameter.grad = None
    return loss.item()
