"""Runs the forward inside torch.no_grad, so backward has nothing to go through."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("grad-disabled",)
LOST = ("full", "leftover", "ragged", "stream", "clean", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            with torch.no_grad():
                prediction = model(x)
            loss = loss_fn(prediction, y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    return losses
