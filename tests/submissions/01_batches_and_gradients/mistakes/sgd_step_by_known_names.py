"""Knows by their names which parameters of the notebook's model are frozen or unused."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("frozen",)


def sgd_step(model, loss_fn, x, y, lr):
    own = [p for name, p in model.named_parameters() if name not in ("shift", "unused")]
    loss = loss_fn(model(x), y)
    gradients = torch.autograd.grad(loss, own)
    with torch.no_grad():
        for p, gradient in zip(own, gradients, strict=True):
            p -= lr * gradient
    model.zero_grad()
    return loss.item()
