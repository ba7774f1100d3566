"""Unpacks the window's first micro-batch outside the loop that runs over the window."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("same-batch-repeated",)
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        x, y = window[0]
        total = 0.0
        for _ in range(len(window)):
            loss = loss_fn(model(x), y) / len(window)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses
