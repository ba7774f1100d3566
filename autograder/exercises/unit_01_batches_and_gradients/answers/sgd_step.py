"""Writes the update out: that is all an optimizer without momentum does.

Leaves the update to `torch.optim.SGD`; clearing before and after is still your work.
"""

import torch


def sgd_step(model, loss_fn, x, y, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    return float(loss)
