"""Takes no smaller rate than 1."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update", "frozen")


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= max(lr, 1) * p.grad
    model.zero_grad()
    return loss.item()
