"""Saves memory by running all but the last micro-batch of a window without gradients."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("grad-disabled",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        *early, (x, y) = window
        with torch.no_grad():
            total = sum(loss_fn(model(a), b) * len(a) for a, b in early)
        loss = (total + loss_fn(model(x), y) * len(x)) / samples
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    optimizer.zero_grad()
    return losses
