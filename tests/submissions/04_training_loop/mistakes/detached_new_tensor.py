"""Builds a new tensor from the loss's number and calls backward on that."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("detached",)
LOST = ("full", "leftover", "ragged", "stream", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        total = 0.0
        for x, y in window:
            total += loss_fn(model(x), y).item() * len(x)
        loss = torch.tensor(total / samples, requires_grad=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    optimizer.zero_grad()
    return losses
