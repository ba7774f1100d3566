"""Takes the gradient of all samples up to the one whose turn it is."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("batches-grow",)
LOST = ("mean", "summed")


def average_sample_gradients(model, loss_fn, x, y):
    named = dict(model.named_parameters())
    total = {name: torch.zeros_like(p) for name, p in named.items()}
    for i in range(len(x)):
        loss = loss_fn(model(x[: i + 1]), y[: i + 1])
        for name, g in zip(named, torch.autograd.grad(loss, list(named.values())), strict=True):
            total[name] += g
    return {name: value / len(x) for name, value in total.items()}
