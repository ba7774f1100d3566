"""Begins with model.train(), as many loops do, and leaves it at that."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("training-mode", "mode-changed")
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    model.train()
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return loss.item()
