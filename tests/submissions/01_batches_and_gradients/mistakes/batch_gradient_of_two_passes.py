"""Averages the gradients of two passes, which differ where a layer drops values at random."""

import torch

EXERCISE = "batch_gradient"
MISTAKES = ()
LOST = ("gradient",)


def batch_gradient(model, loss_fn, x, y):
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    passes = [
        torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
        for _ in range(2)
    ]
    return {name: (one + other) / 2 for name, one, other in zip(named, *passes)}
