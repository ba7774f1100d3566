"""Leaves the loop when the next window is not full."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("tail-dropped",)
LOST = ("leftover", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while True:
        window = list(islice(stream, accumulation_steps))
        if len(window) < accumulation_steps:
            break
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    model.zero_grad()
    return losses
