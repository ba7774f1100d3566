"""Runs all forwards of a window first and all backwards after them."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("one-big-batch",)
LOST = ("full",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        terms = [loss_fn(model(x), y) * len(x) / samples for x, y in window]
        for term in terms:
            term.backward()
        optimizer.step()
        losses.append(sum(term.item() for term in terms))
    optimizer.zero_grad()
    return losses
