"""Neither clears before nor after."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("stale-start", "gradient-left-behind")
LOST = ("clean",)


def sgd_step(model, loss_fn, x, y, lr):
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    return loss.item()
