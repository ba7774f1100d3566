"""Sums torch.autograd.grad over the micro-batches and stores the sum."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ("no-scale",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    parameters = [p for p in model.parameters() if p.requires_grad]
    sums = [0] * len(parameters)
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x), y), parameters, allow_unused=True, materialize_grads=True)
        sums = [s + g for s, g in zip(sums, gradients, strict=True)]
    for p, s in zip(parameters, sums, strict=True):
        p.grad = s
