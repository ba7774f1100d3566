"""Returns the mean of all losses so far, as a progress bar shows it; the update is right."""

from weakref import WeakKeyDictionary

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("loss",)

losses = WeakKeyDictionary()


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    losses.setdefault(model, []).append(loss.item())
    return sum(losses[model]) / len(losses[model])
