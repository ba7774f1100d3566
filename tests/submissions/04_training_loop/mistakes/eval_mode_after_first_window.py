"""Evaluates after each window and forgets to go back to training mode within the epoch."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("eval-mode",)
LOST = ("full",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    model.train()
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
        model.eval()
        with torch.no_grad():
            print("after the update:", loss_fn(model(window[0][0]), window[0][1]).item())
    optimizer.zero_grad()
    model.train()
    return losses
