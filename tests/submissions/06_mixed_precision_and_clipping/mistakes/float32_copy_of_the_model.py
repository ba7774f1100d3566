"""Computes everything in a float32 copy of the model."""

import copy

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ("computed-in-float32",)
LOST = ("model",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    model = copy.deepcopy(model).float()
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x.float()), y.float()).backward()
        for name, p in model.named_parameters():
            totals[name] += p.grad * len(x) / samples
    model.zero_grad()
    return totals
