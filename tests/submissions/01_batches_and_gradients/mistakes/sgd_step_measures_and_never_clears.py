"""Takes the gradient without .grad, and leaves the old one there."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("gradient-left-behind",)
LOST = ("clean",)


def sgd_step(model, loss_fn, x, y, lr):
    parameters = [p for p in model.parameters() if p.requires_grad]
    loss = loss_fn(model(x), y)
    with torch.no_grad():
        for p, g in zip(parameters, torch.autograd.grad(loss, parameters, materialize_grads=True), strict=True):
            p -= lr * g
    return loss.item()
