"""Divides the window's mean loss by N once more before reporting it."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("loss-scaled-in-log",)
LOST = ("losses",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        scaled = []
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            scaled.append(loss.item())
        optimizer.step()
        losses.append(sum(scaled) / accumulation_steps)
    optimizer.zero_grad()
    return losses
