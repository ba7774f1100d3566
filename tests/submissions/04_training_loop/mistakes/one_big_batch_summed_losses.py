"""Adds up the window's losses and calls backward once on the sum."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("one-big-batch",)
LOST = ("full",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        loss = sum(loss_fn(model(x), y) * len(x) for x, y in window) / samples
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    optimizer.zero_grad()
    return losses
