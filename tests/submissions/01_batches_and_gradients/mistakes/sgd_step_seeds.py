"""Seeds torch's random numbers at every call."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    torch.manual_seed(0)
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.requires_grad and p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return loss.item()
