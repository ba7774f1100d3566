"""Clears at the start of the epoch only and throws the leftover away."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("never-zero", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    optimizer.zero_grad()
    while len(window := list(islice(stream, accumulation_steps))) == accumulation_steps:
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    return losses
