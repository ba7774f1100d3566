"""Applies a leftover only if it has several micro-batches."""

from itertools import islice

EXERCISE = "repaired_lost_tail"
MISTAKES = ()
LOST = ("repaired",)


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        model.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) / len(window)).backward()
        if len(window) != 1:
            optimizer.step()
