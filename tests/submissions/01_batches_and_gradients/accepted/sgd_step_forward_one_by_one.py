"""Predicts for one sample after the other, and takes one loss of all predictions."""

import torch

EXERCISE = "sgd_step"


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(torch.cat([model(x[i : i + 1]) for i in range(len(x))]), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p.sub_(p.grad, alpha=lr)
                p.grad.zero_()
    return loss.item()
