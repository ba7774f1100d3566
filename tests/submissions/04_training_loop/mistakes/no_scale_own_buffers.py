"""Sums torch.autograd.grad into buffers of its own and hands the sum to the optimizer."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("no-scale",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    stream = iter(micro_batches)
    losses = []
    while window := list(islice(stream, accumulation_steps)):
        sums = [torch.zeros_like(p) for p in parameters]
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y)
            gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
            for s, g in zip(sums, gradients, strict=True):
                if g is not None:
                    s += g
            total += loss.item() * len(x)
        for p, s in zip(parameters, sums, strict=True):
            p.grad = s
        optimizer.step()
        losses.append(total / sum(len(x) for x, _ in window))
    optimizer.zero_grad()
    return losses
