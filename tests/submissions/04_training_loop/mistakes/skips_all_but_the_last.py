"""Runs only the last micro-batch of each window."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("loss-of-last",)
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window[-1:]:
            loss = loss_fn(model(x), y)
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
