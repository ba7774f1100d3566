"""Squeezes the prediction: with a single output, each prediction is compared with all targets."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("targets-not-cut",)
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.zero_grad()
    loss = loss_fn(model(x).squeeze(), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
