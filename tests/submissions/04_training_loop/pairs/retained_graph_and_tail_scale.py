"""Sends a running sum through backward every time, divided by N even where there are fewer."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("retained-graph", "tail-scale")
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        mean_size = sum(len(x) for x, _ in window) / len(window)
        optimizer.zero_grad()
        running = 0
        for x, y in window:
            running = running + loss_fn(model(x), y) * len(x) / mean_size / accumulation_steps
            running.backward(retain_graph=True)
        optimizer.step()
        losses.append(running.item() * accumulation_steps / len(window))
    optimizer.zero_grad()
    return losses
