"""Keeps the graphs of a window until one backward, of a mean over all micro-batches of the epoch."""

from itertools import islice

EXERCISE = "ddp_train_epoch"
MISTAKES = ("one-big-batch",)
LOST = ("full", "leftover")
SAYS = ("Update 1 holds",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        (sum(loss_fn(model(x), y) for x, y in window) / len(micro_batches)).backward()
        optimizer.step()
