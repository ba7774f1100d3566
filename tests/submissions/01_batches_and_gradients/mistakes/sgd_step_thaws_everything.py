"""Asks for gradients of all parameters and freezes none again."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("frozen-thawed",)
LOST = ("frozen",)


def sgd_step(model, loss_fn, x, y, lr):
    model.requires_grad_(True)
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return loss.item()
