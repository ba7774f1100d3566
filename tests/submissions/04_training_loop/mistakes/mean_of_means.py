"""Divides each loss by the number of micro-batches in the window, whatever their sizes."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means",)
LOST = ("ragged",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    optimizer.zero_grad()
    while window := list(islice(stream, accumulation_steps)):
        total, samples = 0.0, 0
        for x, y in window:
            loss = loss_fn(model(x), y)
            (loss / len(window)).backward()
            total += loss.item() * len(x)
            samples += len(x)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total / samples)
    return losses
