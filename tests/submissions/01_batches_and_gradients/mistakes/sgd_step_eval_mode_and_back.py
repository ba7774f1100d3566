"""Computes in evaluation mode and goes to training mode, whatever it was before."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("eval-mode", "mode-changed")
LOST = ("update", "loss")


def sgd_step(model, loss_fn, x, y, lr):
    model.eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    model.train()
    return loss.item()
