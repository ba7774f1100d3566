"""Clips .grad after every micro-batch, so that what is accumulated is no longer a mean."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.1)
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
