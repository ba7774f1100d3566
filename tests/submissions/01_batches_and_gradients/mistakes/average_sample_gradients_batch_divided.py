"""Divides the gradient of the whole batch by its size, which is right only where loss_fn adds."""

import torch

EXERCISE = "average_sample_gradients"
MISTAKES = ("batch-not-samples",)
LOST = ("mean",)


def average_sample_gradients(model, loss_fn, x, y):
    named = dict(model.named_parameters())
    gradients = torch.autograd.grad(loss_fn(model(x), y), list(named.values()))
    return {name: g / len(x) for name, g in zip(named, gradients, strict=True)}
