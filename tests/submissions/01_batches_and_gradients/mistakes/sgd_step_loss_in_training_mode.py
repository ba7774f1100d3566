"""Reports the loss in training mode, whatever mode the model is in; the update is right."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("training-mode",)
LOST = ("loss",)


def sgd_step(model, loss_fn, x, y, lr):
    modes = [(layer, layer.training) for layer in model.modules()]
    model.train()
    with torch.no_grad():
        reported = loss_fn(model(x), y).item()
    for layer, mode in modes:
        layer.training = mode
    model.zero_grad()
    loss_fn(model(x), y).backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return reported
