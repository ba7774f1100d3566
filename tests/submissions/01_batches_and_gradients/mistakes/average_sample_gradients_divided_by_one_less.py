"""Divides by one less than the number of samples, as for a variance."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("other-divisor",)
LOST = ("mean", "summed")


def average_sample_gradients(model, loss_fn, x, y):
    named = dict(model.named_parameters())
    total = {name: torch.zeros_like(p) for name, p in named.items()}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        for name, g in zip(named, torch.autograd.grad(loss, list(named.values())), strict=True):
            total[name] += g
    return {name: value / max(1, len(x) - 1) for name, value in total.items()}
