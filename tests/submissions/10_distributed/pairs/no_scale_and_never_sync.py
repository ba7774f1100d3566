"""Adds up a window, for every rank alone."""

from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("no-scale", "never-sync")
LOST = ("full", "leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        with model.no_sync():
            for x, y in window:
                loss_fn(model(x), y).backward()
        optimizer.step()
