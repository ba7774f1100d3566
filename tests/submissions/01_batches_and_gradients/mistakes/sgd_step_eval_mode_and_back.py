"""Computes in evaluation mode and goes back to training mode."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("eval-mode",)
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    model.eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    model.train()
    return loss.item()
