"""Clears before every backward and throws the leftover window away."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("zero-every", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for k, (x, y) in enumerate(window, 1):
            optimizer.zero_grad()
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
            if k == accumulation_steps:
                optimizer.step()
                losses.append(window_loss)
    return losses
