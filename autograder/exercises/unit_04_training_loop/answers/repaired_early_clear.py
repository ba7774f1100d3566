"""Moves the clear behind the update.

Reads one window at a time. Then the clear, the backwards and the update stand where they belong without any condition.
"""

from itertools import islice


def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            loss = loss_fn(model(x), y) / len(window)
            loss.backward()
        optimizer.step()
