"""Clears after each update only and never flushes: the leftover waits in .grad for the next epoch."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("tail-stale",)
LOST = ("leftover", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for done, (x, y) in enumerate(window, 1):
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
            if done == accumulation_steps:
                optimizer.step()
                optimizer.zero_grad()
        losses.append(window_loss)
    return losses
