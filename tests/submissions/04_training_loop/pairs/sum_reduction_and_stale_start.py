"""Sums over samples and does not clear when it starts."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("sum-reduction", "stale-start")
LOST = ("full", "leftover", "ragged", "stream", "clean")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x)
            loss.backward()
            total += loss.item()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total / sum(len(x) for x, _ in window))
    return losses
