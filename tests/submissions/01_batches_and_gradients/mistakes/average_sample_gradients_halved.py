"""Averages the running result with each new sample."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("halved-again-and-again",)
LOST = ("mean", "summed")


def gradient(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), materialize_grads=True)
    return dict(zip(named, gradients, strict=True))


def average_sample_gradients(model, loss_fn, x, y):
    result = gradient(model, loss_fn, x[:1], y[:1])
    for i in range(1, len(x)):
        new = gradient(model, loss_fn, x[i : i + 1], y[i : i + 1])
        result = {name: (result[name] + new[name]) / 2 for name in result}
    return result
