"""Divides by the number of micro-batches, and flushes only if there was an update before."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "short-epoch-no-step")
LOST = ("leftover", "ragged")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y)
            (loss / len(window)).backward()
            total += loss.item() * len(x)
        if len(window) == accumulation_steps or losses:
            optimizer.step()
            losses.append(total / sum(len(x) for x, _ in window))
    optimizer.zero_grad()
    return losses
