"""Adds up the losses of a window, without dividing, and calls backward once."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "one-big-batch")
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        each = [loss_fn(model(x), y) for x, y in window]
        sum(each).backward()
        optimizer.step()
        sizes = [len(x) for x, _ in window]
        losses.append(sum(a.item() * b for a, b in zip(each, sizes, strict=True)) / sum(sizes))
    optimizer.zero_grad()
    return losses
