"""Updates no model in evaluation mode, and fails where a parameter has no gradient."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update", "frozen")
SAYS = ("For a model in evaluation mode: The parameters have not moved.",)


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    if model.training:
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= lr * p.grad
        model.zero_grad()
    return loss.item()
