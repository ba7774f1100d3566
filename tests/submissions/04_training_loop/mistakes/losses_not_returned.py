"""Prints its losses and returns nothing."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ()
LOST = ("losses",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        print(f"loss {window_loss:.3f}")
    optimizer.zero_grad()
