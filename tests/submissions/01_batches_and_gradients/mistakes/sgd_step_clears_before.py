"""Clears only before the backward."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("gradient-left-behind",)
LOST = ("clean",)


def sgd_step(model, loss_fn, x, y, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()
