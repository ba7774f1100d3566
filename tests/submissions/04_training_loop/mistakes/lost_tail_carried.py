"""Keeps the leftover micro-batches themselves for the first window of the next epoch."""

from itertools import chain, islice

EXERCISE = "repaired_lost_tail"
MISTAKES = ("tail-stale",)
LOST = ("repaired",)


waiting = []


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = chain(list(waiting), micro_batches)
    waiting.clear()
    while window := list(islice(stream, accumulation_steps)):
        if len(window) < accumulation_steps:
            waiting.extend(window)
            break
        optimizer.zero_grad()
        for x, y in window:
            loss = loss_fn(model(x), y) / len(window)
            loss.backward()
        optimizer.step()
