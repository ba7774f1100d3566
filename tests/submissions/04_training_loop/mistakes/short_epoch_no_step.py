"""Flushes the leftover only if there has been an update before it."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("short-epoch-no-step",)
LOST = ("leftover",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    updates = 0
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        losses.append(window_loss)
        if len(window) < accumulation_steps and not updates:
            break
        optimizer.step()
        updates += 1
    optimizer.zero_grad()
    return losses
