"""Shares the first two micro-batches of each window, and not the last."""

from contextlib import nullcontext
from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("sync-wrong-one",)
LOST = ("full", "leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k <= 2 else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
