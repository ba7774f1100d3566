"""Collects losses in a list and calls backward on the sum of the list after each micro-batch."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("retained-graph",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    optimizer.zero_grad()
    while window := list(islice(stream, accumulation_steps)):
        sizes = [x.size(0) for x, _ in window]
        terms = []
        for (x, y), size in zip(window, sizes, strict=True):
            terms.append(loss_fn(model(x), y) * size)
            (sum(terms) / sum(sizes)).backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(sum(terms).detach()) / sum(sizes))
    return losses
