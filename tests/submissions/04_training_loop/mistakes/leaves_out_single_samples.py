"""Leaves out micro-batches of a single sample, as one does with BatchNorm, unless a window has no others."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("ragged", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        window = [(x, y) for x, y in window if len(x) > 1] or window
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        mean = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            mean += loss.item()
        optimizer.step()
        losses.append(mean)
    optimizer.zero_grad()
    return losses
