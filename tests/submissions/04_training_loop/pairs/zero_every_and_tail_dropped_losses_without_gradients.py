"""Clears before every backward, drops leftovers, and returns losses of second forwards without gradients."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("zero-every", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream, losses = iter(micro_batches), []
    while len(window := list(islice(stream, accumulation_steps))) == accumulation_steps:
        samples = sum(len(x) for x, _ in window)
        with torch.no_grad():
            losses.append(sum(loss_fn(model(x), y).item() * len(x) for x, y in window) / samples)
        for x, y in window:
            optimizer.zero_grad()
            (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
    optimizer.zero_grad()
    return losses
