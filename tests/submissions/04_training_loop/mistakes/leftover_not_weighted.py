"""Weighs by samples in full windows, but all micro-batches of a leftover window alike."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("stream",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            full = len(window) == accumulation_steps
            loss = loss_fn(model(x), y) * (len(x) / samples if full else 1 / len(window))
            loss.backward()
            window_loss += loss_fn(model(x), y).item() * len(x) / samples
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
