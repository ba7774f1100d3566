"""Stores gradients of weight matrices only and forgets the biases."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ("detached",)
LOST = ("equal", "ragged", "clean", "memory")


def accumulate_gradient(model, loss_fn, micro_batches):
    samples = sum(len(x) for x, _ in micro_batches)
    model.zero_grad()
    weights = [p for p in model.parameters() if p.requires_grad and p.dim() > 1]
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / samples
        for w, g in zip(weights, torch.autograd.grad(loss, weights), strict=True):
            w.grad = g if w.grad is None else w.grad + g
