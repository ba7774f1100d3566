"""Goes through the parameters of every module, so a parameter that two modules share moves twice."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for module in model.modules():
            for p in module.parameters(recurse=False):
                if p.grad is not None:
                    p -= lr * p.grad
    model.zero_grad()
    return loss.item()
