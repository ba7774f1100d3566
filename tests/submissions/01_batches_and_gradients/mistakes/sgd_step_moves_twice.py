"""Updates the parameters of every module, of those inside of others as well: each is visited twice."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("moved-twice",)
LOST = ("update", "frozen")


def sgd_step(model, loss_fn, x, y, lr):
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for group in (model.parameters(), (p for child in model.children() for p in child.parameters())):
            for p in group:
                if p.grad is not None:
                    p.sub_(p.grad, alpha=lr)
    model.zero_grad()
    return loss.item()
