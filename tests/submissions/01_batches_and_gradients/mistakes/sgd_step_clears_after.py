"""Clears only after the update, so what was there before joins in."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("stale-start",)
LOST = ("clean",)


def sgd_step(model, loss_fn, x, y, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
