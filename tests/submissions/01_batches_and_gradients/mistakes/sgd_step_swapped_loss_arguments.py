"""Hands the targets to the loss function as its predictions."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("loss-arguments-swapped",)
LOST = ("update", "frozen", "loss")


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(y, model(x))
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return loss.item()
