"""Applies every window, and the last one once more after the loop."""

from itertools import islice

EXERCISE = "repaired_lost_tail"
MISTAKES = ()
LOST = ("repaired",)


def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            loss = loss_fn(model(x), y) / len(window)
            loss.backward()
        optimizer.step()
    optimizer.step()
