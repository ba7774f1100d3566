"""Runs all micro-batches of a window through the model before the first backward."""

from contextlib import nullcontext
from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("one-big-batch",)
LOST = ("full",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        with model.no_sync():
            outputs = [model(x) for x, _ in window[:-1]]
        for number, (x, y) in enumerate(window, 1):
            with nullcontext() if number == len(window) else model.no_sync():
                output = outputs.pop(0) if outputs else model(x)
                (loss_fn(output, y) * (len(x) / samples)).backward()
        optimizer.step()
    optimizer.zero_grad()
