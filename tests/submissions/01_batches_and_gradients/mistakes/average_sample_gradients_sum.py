"""Adds up and never divides."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("sums-samples",)
LOST = ("mean", "summed")


def gradient(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), materialize_grads=True)
    return dict(zip(named, gradients, strict=True))


def average_sample_gradients(model, loss_fn, x, y):
    total = gradient(model, loss_fn, x[:1], y[:1])
    for i in range(1, len(x)):
        for name, g in gradient(model, loss_fn, x[i : i + 1], y[i : i + 1]).items():
            total[name] = total[name] + g
    return total
