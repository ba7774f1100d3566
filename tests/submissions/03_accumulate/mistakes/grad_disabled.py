"""Computes all losses without gradients, to save memory, and calls backward on their mean."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ("grad-disabled",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    total, samples = 0, 0
    with torch.no_grad():
        for x, y in micro_batches:
            total = total + loss_fn(model(x), y) * len(x)
            samples += len(x)
    (total / samples).backward()
