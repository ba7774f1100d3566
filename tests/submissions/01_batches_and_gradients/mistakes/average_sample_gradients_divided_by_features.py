"""Divides by the wrong dimension of x."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("other-divisor",)
LOST = ("mean", "summed")


def gradient(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), materialize_grads=True)
    return dict(zip(named, gradients, strict=True))


def average_sample_gradients(model, loss_fn, x, y):
    each = [gradient(model, loss_fn, x[i : i + 1], y[i : i + 1]) for i in range(x.shape[0])]
    return {name: sum(g[name] for g in each) / x.shape[1] for name in each[0]}
