"""Insists on at least two micro-batches per window."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("full",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    if accumulation_steps < 2:
        raise ValueError("there is nothing to accumulate")
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
