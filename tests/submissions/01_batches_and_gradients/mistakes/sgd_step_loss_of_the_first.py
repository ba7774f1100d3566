"""Returns the loss of the first sample."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("loss-of-one-sample",)
LOST = ("loss",)


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    first = loss_fn(model(x[:1]), y[:1]).item()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return first
