"""Adds up the losses and sends the running sum through backward every time."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("retained-graph",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        running = 0
        for x, y in window:
            running = running + loss_fn(model(x), y) * len(x) / samples
            running.backward(retain_graph=True)
        optimizer.step()
        losses.append(running.item())
    optimizer.zero_grad()
    return losses
