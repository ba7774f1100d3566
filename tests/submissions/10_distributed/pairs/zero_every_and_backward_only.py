"""Clears before every backward, and enters no_sync after the forward."""

from contextlib import nullcontext
from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("zero-every", "sync-around-backward-only")
LOST = ("full", "leftover", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            optimizer.zero_grad()
            loss = loss_fn(model(x), y) * len(x) / samples
            with nullcontext() if k == len(window) else model.no_sync():
                loss.backward()
        optimizer.step()
