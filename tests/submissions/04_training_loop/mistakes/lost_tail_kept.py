"""Stops clearing at the start of a window, so that the leftover joins the next epoch."""

from itertools import islice

EXERCISE = "repaired_lost_tail"
MISTAKES = ("tail-stale",)
LOST = ("repaired",)


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        for x, y in window:
            loss = loss_fn(model(x), y) / len(window)
            loss.backward()
        if len(window) == accumulation_steps:
            optimizer.step()
            optimizer.zero_grad()
