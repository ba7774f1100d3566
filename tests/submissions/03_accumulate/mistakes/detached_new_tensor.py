"""Adds up numbers, makes a tensor of the sum and calls backward on that."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ("detached",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    samples = sum(len(x) for x, _ in micro_batches)
    total = sum(loss_fn(model(x), y).item() * len(x) for x, y in micro_batches)
    torch.tensor(total / samples, requires_grad=True).backward()
