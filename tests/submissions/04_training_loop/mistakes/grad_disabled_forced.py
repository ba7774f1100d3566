"""Switches gradients off and quiets the error with requires_grad_, so that nothing ever moves."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("grad-disabled",)
LOST = ("full", "leftover", "ragged", "stream", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            with torch.set_grad_enabled(False):
                loss = loss_fn(model(x), y) * len(x) / samples
            loss.requires_grad_()
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
