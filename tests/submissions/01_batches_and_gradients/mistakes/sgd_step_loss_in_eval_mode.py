"""Reports the loss in evaluation mode, and puts the mode back."""

import torch

EXERCISE = "sgd_step"
MISTAKES = ("mode-changed", "eval-mode")
LOST = ("update", "loss")


def sgd_step(model, loss_fn, x, y, lr):
    before = model.training
    model.eval()
    with torch.no_grad():
        reported = loss_fn(model(x), y).item()
    model.train(before)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()
    return reported
