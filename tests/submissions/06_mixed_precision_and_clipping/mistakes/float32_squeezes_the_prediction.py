"""Squeezes the prediction, which makes a column of one output a row, and the loss compares all with all."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("sums",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    parameters = dict(model.named_parameters())
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in parameters.items()}
    for x, y in micro_batches:
        gradients = torch.autograd.grad(loss_fn(model(x).squeeze(), y), list(parameters.values()))
        for name, gradient in zip(parameters, gradients, strict=True):
            totals[name] += gradient.float() * len(x) / samples
    return totals
