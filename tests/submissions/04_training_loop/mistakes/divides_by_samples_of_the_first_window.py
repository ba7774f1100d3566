"""Divides every window by the number of samples in the first one. No named mistake."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("leftover", "ragged", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses, stream, samples = [], iter(micro_batches), None
    while window := list(islice(stream, accumulation_steps)):
        samples = samples or sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses
