"""Sets the chance of every dropout to 0 for the forward pass, and back."""

import torch

EXERCISE = "sgd_step"
LOST = ("update", "loss")


def sgd_step(model, loss_fn, x, y, lr):
    layers = [(m, m.p) for m in model.modules() if isinstance(m, torch.nn.Dropout)]
    for m, _ in layers:
        m.p = 0.0
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    for m, rate in layers:
        m.p = rate
    model.zero_grad()
    return loss.item()
