"""Takes the samples in an order of its own."""

import torch

EXERCISE = "average_sample_gradients"


def average_sample_gradients(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    total = dict.fromkeys(named, 0)
    for i in sorted(range(len(x)), key=lambda i: (i % 3, -i)):
        gradients = torch.autograd.grad(loss_fn(model(x[i : i + 1]), y[i : i + 1]), list(named.values()))
        total = {name: total[name] + g / len(x) for name, g in zip(named, gradients)}
    return total
