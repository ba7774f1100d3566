"""Shares in the first window of an epoch only."""

from contextlib import nullcontext

from gradaccum.loops import windows

EXERCISE = "ddp_train_epoch"
MISTAKES = ("windows-not-synced",)
LOST = ("full", "leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for place, window in enumerate(windows(micro_batches, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) and place == 0 else model.no_sync():
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
