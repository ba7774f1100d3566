"""Returns the loss as a tensor with its graph."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("loss",)


def sgd_step(model, loss_fn, x, y, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    model.zero_grad()
    return loss
