"""Rewrites the loop over windows."""

from itertools import islice

EXERCISE = "repaired_early_clear"


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) / len(window)).backward()
        optimizer.step()
