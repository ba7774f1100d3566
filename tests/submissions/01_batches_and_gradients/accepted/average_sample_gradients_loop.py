"""Adds up the gradients of batches of one and divides at the end."""

import torch

EXERCISE = "average_sample_gradients"


def average_sample_gradients(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    total = {name: torch.zeros_like(p) for name, p in named.items()}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        gradients = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
        for name, g in zip(named, gradients, strict=True):
            if g is not None:
                total[name] += g
    return {name: t / len(x) for name, t in total.items()}
