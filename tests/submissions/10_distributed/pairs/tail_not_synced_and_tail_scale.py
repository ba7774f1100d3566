"""Divides by N and shares at the N-th micro-batch, also in a leftover window."""

from contextlib import nullcontext
from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("tail-not-synced", "tail-scale")
LOST = ("leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window) / len(window) * accumulation_steps
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == accumulation_steps else model.no_sync():
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
