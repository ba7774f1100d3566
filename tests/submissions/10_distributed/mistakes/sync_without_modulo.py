"""Compares a counter of the epoch with N: the first window and the last are shared, and those between are not."""

from contextlib import nullcontext
from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("windows-not-synced",)
LOST = ("full", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream, seen = iter(micro_batches), 0
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            seen += 1
            with nullcontext() if seen in (accumulation_steps, len(micro_batches)) else model.no_sync():
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
