"""Clears only before the second window of an epoch and later, so the last gradient of an epoch joins the next."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        if losses:
            optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    return losses
