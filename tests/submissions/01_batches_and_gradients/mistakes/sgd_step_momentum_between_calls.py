"""Keeps an optimizer with momentum on the function, for later calls with the same model."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ()
LOST = ("update",)


def sgd_step(model, loss_fn, x, y, lr):
    if getattr(sgd_step, "model", None) is not model:
        sgd_step.model, sgd_step.optimizer = model, torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    sgd_step.optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    sgd_step.optimizer.step()
    sgd_step.optimizer.zero_grad()
    return loss.item()
