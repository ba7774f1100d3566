"""Runs all micro-batches of a window through the model before it computes a loss."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("one-big-batch",)
LOST = ("full",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples, total = sum(len(x) for x, _ in window), 0.0
        outputs = [model(x) for x, _ in window]
        for x, y in window:
            loss = loss_fn(outputs.pop(0), y) * (len(x) / samples)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses
