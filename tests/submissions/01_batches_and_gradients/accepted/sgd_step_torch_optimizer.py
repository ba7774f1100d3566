"""Leaves the work to torch.optim."""

import torch

EXERCISE = "sgd_step"


def sgd_step(model, loss_fn, x, y, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    return float(loss)
