"""Calls step once more at the end, when every gradient is None: nothing moves and nothing travels."""

from contextlib import nullcontext
from itertools import islice

EXERCISE = "ddp_train_epoch"


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()
    optimizer.step()
