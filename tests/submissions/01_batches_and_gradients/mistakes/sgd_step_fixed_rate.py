"""Makes an optimizer with a rate of its own."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("rate-unused",)
LOST = ("update", "frozen")


def sgd_step(model, loss_fn, x, y, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
