"""Divides by the number of micro-batches and never clears."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("never-zero", "mean-of-means")
LOST = ("full", "leftover", "ragged", "stream", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y)
            (loss / len(window)).backward()
            total += loss.item() * len(x)
        optimizer.step()
        losses.append(total / sum(len(x) for x, _ in window))
    return losses
