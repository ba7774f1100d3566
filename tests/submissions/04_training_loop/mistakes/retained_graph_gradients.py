"""Differentiates the running sum with torch.autograd.grad after each micro-batch and adds the results."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("retained-graph",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        buffers = [torch.zeros_like(p) for p in parameters]
        running = torch.zeros(())
        for x, y in window:
            running = running + loss_fn(model(x), y) * len(x) / samples
            gradients = torch.autograd.grad(running, parameters, retain_graph=True, allow_unused=True)
            for b, g in zip(buffers, gradients, strict=True):
                b += 0 if g is None else g
        for p, b in zip(parameters, buffers, strict=True):
            p.grad = b
        optimizer.step()
        losses.append(running.item())
    optimizer.zero_grad()
    return losses
