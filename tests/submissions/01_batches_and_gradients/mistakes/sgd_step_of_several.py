"""Leaves the parameters alone when there is one sample only."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None and len(x) > 1:
                p -= lr * p.grad
    model.zero_grad()
    return loss.item()
