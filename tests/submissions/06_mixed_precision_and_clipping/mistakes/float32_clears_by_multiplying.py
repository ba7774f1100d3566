"""Multiplies what .grad held by zero, which makes NaN of infinity."""

import torch

EXERCISE = "accumulate_in_float32"
MISTAKES = ()
LOST = ("ragged",)


def accumulate_in_float32(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    for x, y in micro_batches:
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad *= 0
        loss_fn(model(x), y).backward()
        for name, parameter in model.named_parameters():
            totals[name] += parameter.grad.float() * len(x) / samples
    return totals
