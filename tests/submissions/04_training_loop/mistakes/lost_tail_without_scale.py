"""Applies the leftover and loses the division."""

from itertools import islice

EXERCISE = "repaired_lost_tail"
MISTAKES = ("no-scale",)
LOST = ("repaired",)


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            loss_fn(model(x), y).backward()
        optimizer.step()
