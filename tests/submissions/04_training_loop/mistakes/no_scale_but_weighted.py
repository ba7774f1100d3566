"""Weighs micro-batches by their size, relative to the mean size, but never divides by their number."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("no-scale",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        sizes = [len(x) for x, _ in window]
        mean_size = sum(sizes) / len(sizes)
        optimizer.zero_grad()
        total = 0.0
        for (x, y), size in zip(window, sizes, strict=True):
            loss = loss_fn(model(x), y)
            (loss * size / mean_size).backward()
            total += loss.item() * size
        optimizer.step()
        losses.append(total / sum(sizes))
    optimizer.zero_grad()
    return losses
