"""One step of Adam, whose gradients are not cleared before."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("stale-start",)
LOST = ("update", "frozen", "clean")
SAYS = ("If .grad is empty before the call, the update is another one.",)


def sgd_step(model, loss_fn, x, y, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
