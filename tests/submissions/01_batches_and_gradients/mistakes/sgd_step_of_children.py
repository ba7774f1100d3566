"""Goes from child to child, so a parameter of the model itself does not move."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("frozen",)


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for layer in model.children():
            for parameter in layer.parameters():
                if parameter.requires_grad and parameter.grad is not None:
                    parameter -= lr * parameter.grad
    model.zero_grad()
    return loss.item()
