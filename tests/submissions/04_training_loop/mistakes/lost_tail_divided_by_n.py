"""Applies the leftover, divided by N."""

from itertools import islice

EXERCISE = "repaired_lost_tail"
MISTAKES = ("tail-scale",)
LOST = ("repaired",)


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            loss = loss_fn(model(x), y) / accumulation_steps
            loss.backward()
        optimizer.step()
