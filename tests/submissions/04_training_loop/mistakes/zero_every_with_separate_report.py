"""Clears before every backward; the reported losses come from a pass of their own without gradients."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("zero-every",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        with torch.no_grad():
            losses.append(sum((loss_fn(model(x), y) * len(x)).item() for x, y in window) / samples)
        for x, y in window:
            optimizer.zero_grad()
            (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
    optimizer.zero_grad()
    return losses
