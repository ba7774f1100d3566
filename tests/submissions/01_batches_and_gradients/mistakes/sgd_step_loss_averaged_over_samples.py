"""Returns the average of the samples' own losses, also where loss_fn adds its samples."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("loss",)


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    predicted = model(x)
    loss_fn(predicted, y).backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p.sub_(p.grad, alpha=lr)
                p.grad.zero_()
    return sum(loss_fn(predicted[i : i + 1], y[i : i + 1]).item() for i in range(len(x))) / len(x)
