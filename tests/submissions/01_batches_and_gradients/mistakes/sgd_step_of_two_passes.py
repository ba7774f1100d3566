"""Averages the gradients of two passes, which differ where a layer drops values at random."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    for p in model.parameters():
        p.grad = None
    losses = [loss_fn(model(x), y) for _ in range(2)]
    (sum(losses) / 2).backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad and p.grad is not None:
                p -= lr * p.grad
            p.grad = None
    return losses[0].item()
