"""Reports 0 as the loss of a single sample."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("loss",)
SAYS = ("For a batch of one sample: The number returned is not the loss of the batch",)


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return loss.item() if len(x) > 1 else 0.0
