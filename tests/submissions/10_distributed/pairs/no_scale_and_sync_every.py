"""Adds up a window, and shares after every micro-batch."""

from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("no-scale", "sync-every")
LOST = ("full", "leftover", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            loss_fn(model(x), y).backward()
        optimizer.step()
