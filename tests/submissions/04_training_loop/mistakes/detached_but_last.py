"""Adds up numbers and calls backward once, on a sum in which only the last loss still has a graph."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("detached",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        running = 0.0
        for x, y in window:
            loss = running + loss_fn(model(x), y) * len(x) / samples
            running = loss.item()
        loss.backward()
        optimizer.step()
        losses.append(running)
    optimizer.zero_grad()
    return losses
