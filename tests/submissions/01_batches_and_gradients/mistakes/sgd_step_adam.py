"""One step of Adam."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update", "frozen")


def sgd_step(model, loss_fn, x, y, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
