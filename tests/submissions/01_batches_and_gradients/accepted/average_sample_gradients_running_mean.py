"""Keeps a running mean, the right way."""

import torch

EXERCISE = "average_sample_gradients"


def average_sample_gradients(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    mean = [torch.zeros_like(p) for p in named.values()]
    for seen, (sample, target) in enumerate(zip(x.split(1), y.split(1), strict=True), 1):
        gradients = torch.autograd.grad(loss_fn(model(sample), target), list(named.values()), materialize_grads=True)
        mean = [m + (g - m) / seen for m, g in zip(mean, gradients, strict=True)]
    return dict(zip(named, mean, strict=True))
