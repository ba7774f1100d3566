"""Cuts windows with a helper like itertools.batched."""

import itertools
from collections.abc import Iterable, Iterator

EXERCISE = "train_epoch"


def batched(items: Iterable, n: int) -> Iterator[tuple]:
    iterator = iter(items)
    while batch := tuple(itertools.islice(iterator, n)):
        yield batch


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    for window in batched(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        parts = []
        for x, y in window:
            part = loss_fn(model(x), y) * len(x) / samples
            part.backward()
            parts.append(part.item())
        optimizer.step()
        losses.append(sum(parts))
    optimizer.zero_grad()
    return losses
