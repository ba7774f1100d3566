"""Fetches the next window before it trains on the current one."""

from itertools import islice

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    window = list(islice(stream, accumulation_steps))
    while window:
        upcoming = list(islice(stream, accumulation_steps))
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
        window = upcoming
    optimizer.zero_grad()
    return losses
