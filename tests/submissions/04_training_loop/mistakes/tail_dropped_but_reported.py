"""Runs the leftover window forward and backward and reports its loss, but never calls step for it."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("tail-dropped",)
LOST = ("leftover",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        if len(window) == accumulation_steps:
            optimizer.step()
        losses.append(window_loss)
    return losses
