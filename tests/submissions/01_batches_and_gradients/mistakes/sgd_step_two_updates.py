"""Makes two updates, each by the gradient at its own place."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update", "frozen")


def sgd_step(model, loss_fn, x, y, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    optimizer.zero_grad()
    return losses[0]
