"""Multiplies the loss by the number of samples, for the update only."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("sums-samples",)
LOST = ("update", "frozen")


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    (loss * len(x)).backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return loss.item()
