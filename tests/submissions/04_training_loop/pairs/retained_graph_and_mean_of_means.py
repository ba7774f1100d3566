"""Sends a running mean of losses through backward every time."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("retained-graph", "mean-of-means")
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        running, total = 0, 0.0
        for x, y in window:
            loss = loss_fn(model(x), y)
            running = running + loss / len(window)
            running.backward(retain_graph=True)
            total += loss.item() * len(x)
        optimizer.step()
        losses.append(total / sum(len(x) for x, _ in window))
    optimizer.zero_grad()
    return losses
