"""Averages the gradient, divides the learning rate by N as well and forgets to put it back."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("lr-scaled-too",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.param_groups[0]["lr"] = optimizer.param_groups[0]["lr"] / accumulation_steps
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
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
