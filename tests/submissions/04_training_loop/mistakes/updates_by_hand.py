"""Subtracts the scaled gradient itself instead of asking the optimizer."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        model.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        with torch.no_grad():
            for p in model.parameters():
                if p.grad is not None:
                    p -= optimizer.param_groups[0]["lr"] * p.grad
        losses.append(window_loss)
    return losses
