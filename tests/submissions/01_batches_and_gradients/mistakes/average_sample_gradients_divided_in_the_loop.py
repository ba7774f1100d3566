"""Divides the running total at every sample."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("divided-again-and-again",)
LOST = ("mean", "summed")


def gradient(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), materialize_grads=True)
    return dict(zip(named, gradients, strict=True))


def average_sample_gradients(model, loss_fn, x, y):
    total = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    for i in range(len(x)):
        for name, g in gradient(model, loss_fn, x[i : i + 1], y[i : i + 1]).items():
            total[name] = (total[name] + g) / len(x)
    return total
