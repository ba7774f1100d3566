"""Assigns to .grad where it should add."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ("zero-every",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    parameters = [p for p in model.parameters() if p.requires_grad]
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / samples
        for p, g in zip(parameters, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True):
            p.grad = g
