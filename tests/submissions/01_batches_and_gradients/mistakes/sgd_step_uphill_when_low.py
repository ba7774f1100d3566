"""Moves uphill where the loss is low already."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad and parameter.grad is not None:
                parameter -= (lr if loss > 1 else -lr) * parameter.grad
    model.zero_grad()
    return loss.item()
