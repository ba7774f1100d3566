"""Clears between the first forward and the first backward of a window."""

from itertools import islice

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for k, (x, y) in enumerate(window):
            loss = loss_fn(model(x), y) * len(x) / samples
            if k == 0:
                optimizer.zero_grad()
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    return losses
