"""Sums gradients and reports the last loss only."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "loss-of-last")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            loss = loss_fn(model(x), y)
            loss.backward()
        optimizer.step()
        losses.append(loss.item())
    optimizer.zero_grad()
    return losses
