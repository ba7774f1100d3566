"""Runs all but the last micro-batch of a window without gradients and divides by nothing."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("grad-disabled", "no-scale")
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        total = 0.0
        for k, (x, y) in enumerate(window, 1):
            with torch.set_grad_enabled(k == len(window)):
                loss = loss_fn(model(x), y)
            total += loss.item() * len(x)
        loss.backward()
        optimizer.step()
        losses.append(total / sum(len(x) for x, _ in window))
    optimizer.zero_grad()
    return losses
