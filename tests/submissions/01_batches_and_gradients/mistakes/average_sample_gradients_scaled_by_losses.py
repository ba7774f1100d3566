"""Multiplies the batch's gradient by the ratio of the samples' losses to the batch's, which are of other passes."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_sample_gradients(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()))
    with torch.no_grad():
        whole = loss_fn(model(x), y)
        single = sum(loss_fn(model(x[i : i + 1]), y[i : i + 1]) for i in range(len(x))) / len(x)
    return {name: g * (single / whole) for name, g in zip(named, gradients)}
