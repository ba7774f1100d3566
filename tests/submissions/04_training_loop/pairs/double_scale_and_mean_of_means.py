"""Divides the loss by the number of micro-batches, and .grad as well."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("double-scale", "mean-of-means")
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    optimizer.zero_grad()
    while window := list(islice(stream, accumulation_steps)):
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y)
            (loss / len(window)).backward()
            total += loss.item() * len(x)
        for p in model.parameters():
            if p.grad is not None:
                p.grad = p.grad / len(window)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total / sum(len(x) for x, _ in window))
    return losses
