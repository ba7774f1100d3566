"""Clears .grad by multiplying it by zero, which leaves NaN where it held NaN or infinity."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("clean",)


def sgd_step(model, loss_fn, x, y, lr):
    for p in model.parameters():
        if p.grad is not None:
            p.grad *= 0
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad and p.grad is not None:
                p -= lr * p.grad
                p.grad *= 0
    return loss.item()
