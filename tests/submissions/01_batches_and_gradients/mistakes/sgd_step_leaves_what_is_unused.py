"""Clears only those parameters that the loss depends on."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("gradient-left-behind",)
LOST = ("clean",)


def sgd_step(model, loss_fn, x, y, lr):
    parameters = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    with torch.no_grad():
        for p, g in zip(parameters, gradients, strict=True):
            if g is not None:
                p -= lr * g
                p.grad = None
    return loss.item()
