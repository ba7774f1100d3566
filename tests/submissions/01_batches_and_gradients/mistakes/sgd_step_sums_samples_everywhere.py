"""Trains on, and reports, the sum of the losses."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("sums-samples", "loss-summed-over-samples")
LOST = ("update", "frozen", "loss")


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = sum(loss_fn(model(x[i : i + 1]), y[i : i + 1]) for i in range(len(x)))
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return loss.item()
