"""Sums over samples and updates full windows only."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("sum-reduction", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while len(window := list(islice(stream, accumulation_steps))) == accumulation_steps:
        optimizer.zero_grad()
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total / sum(len(x) for x, _ in window))
    return losses
