"""Clears trainable parameters only, and moves a frozen one by what is left in its .grad."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("stale-start",)
LOST = ("clean",)


def sgd_step(model, loss_fn, x, y, lr):
    for p in model.parameters():
        if p.requires_grad:
            p.grad = None
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    for p in model.parameters():
        p.grad = None
    return loss.item()
