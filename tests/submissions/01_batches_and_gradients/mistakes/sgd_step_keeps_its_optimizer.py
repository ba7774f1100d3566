"""Stores its optimizer on the model, and gives it the rate of every call."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    if not hasattr(model, "optimizer"):
        model.optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr)
    model.optimizer.param_groups[0]["lr"] = lr
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    model.optimizer.step()
    model.zero_grad()
    return loss.item()
