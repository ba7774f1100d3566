"""Clears at the start of each window but updates after every micro-batch of it."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("step-every",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            optimizer.step()
            window_loss += loss.item()
        losses.append(window_loss)
    return losses
