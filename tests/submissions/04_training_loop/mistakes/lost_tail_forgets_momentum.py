"""Momentum buffers are emptied before the update of a leftover."""

from itertools import islice

EXERCISE = "repaired_lost_tail"
MISTAKES = ()
LOST = ("repaired",)


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) / len(window)).backward()
        if len(window) < accumulation_steps:
            optimizer.state.clear()
        optimizer.step()
