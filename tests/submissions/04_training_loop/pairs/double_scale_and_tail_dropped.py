"""Averages over samples, divides by N once more, and stops at a window that is not full."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("double-scale", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while len(window := list(islice(stream, accumulation_steps))) == accumulation_steps:
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            (loss / accumulation_steps).backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    return losses
