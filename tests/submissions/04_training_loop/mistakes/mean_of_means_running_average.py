"""Keeps a running average of the micro-batch gradients in buffers of its own."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means",)
LOST = ("ragged",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    stream = iter(micro_batches)
    losses = []
    while window := list(islice(stream, accumulation_steps)):
        average = [torch.zeros_like(p) for p in parameters]
        total = 0.0
        for k, (x, y) in enumerate(window, 1):
            loss = loss_fn(model(x), y)
            for a, g in zip(average, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True):
                a += ((0 if g is None else g) - a) / k
            total += loss.item() * len(x)
        for p, a in zip(parameters, average, strict=True):
            p.grad = a
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total / sum(len(x) for x, _ in window))
    return losses
