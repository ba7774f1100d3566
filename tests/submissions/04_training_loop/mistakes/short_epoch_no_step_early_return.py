"""Gives up at once when the epoch does not fill one window."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("short-epoch-no-step",)
LOST = ("leftover",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    window = list(islice(stream, accumulation_steps))
    if len(window) < accumulation_steps:
        return []
    losses = []
    while window:
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
        window = list(islice(stream, accumulation_steps))
    optimizer.zero_grad()
    return losses
