"""Averages the gradients of single samples, and their losses, also where loss_fn adds its samples."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    losses = []
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1]) / len(x)
        loss.backward()
        losses.append(loss.item())
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p.sub_(p.grad, alpha=lr)
                p.grad.zero_()
    return sum(losses)
