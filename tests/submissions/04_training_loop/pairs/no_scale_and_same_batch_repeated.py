"""Runs the window's first micro-batch N times over and adds it all up."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("no-scale", "same-batch-repeated")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        x, y = window[0]
        for _ in window:
            loss = loss_fn(model(x), y)
            loss.backward()
        optimizer.step()
        losses.append(loss.item())
    optimizer.zero_grad()
    return losses
