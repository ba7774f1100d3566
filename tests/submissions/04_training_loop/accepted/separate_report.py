"""Computes the reported losses in a pass of its own, in evaluation mode's opposite and without gradients."""

from itertools import islice

import torch

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    @torch.no_grad()
    def mean_loss(window, samples):
        return sum(loss_fn(model(x), y).item() * len(x) for x, y in window) / samples

    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        losses.append(mean_loss(window, samples))
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
    optimizer.zero_grad()
    return losses
