"""Shifts the inputs while it computes, and returns them a rounding error away from where they were."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    x += 0.1
    x -= 0.1
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad and p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return loss.item()
