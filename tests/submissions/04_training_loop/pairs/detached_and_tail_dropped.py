"""Calls backward once per full window, on the last loss only."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("detached", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while len(window := list(islice(stream, accumulation_steps))) == accumulation_steps:
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        running = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            running += loss.item()
        loss.backward()
        optimizer.step()
        losses.append(running)
    return losses
