"""Computes in the mode it finds, and leaves the model in training mode."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("mode-changed",)
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    model.train()
    return loss.item()
