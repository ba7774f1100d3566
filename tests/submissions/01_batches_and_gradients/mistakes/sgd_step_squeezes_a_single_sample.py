"""Takes the first dimension away from the prediction if it has a single row, and so from a batch of one sample."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x).squeeze(0), y)
    loss.backward()
    torch.optim.SGD(model.parameters(), lr=lr).step()
    model.zero_grad()
    return loss.item()
