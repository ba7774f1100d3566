"""Joins micro-batches into one large batch if their sizes differ."""

import torch

EXERCISE = "accumulate_gradient"
MISTAKES = ("one-big-batch",)
LOST = ("memory",)


def accumulate_gradient(model, loss_fn, micro_batches):
    model.zero_grad()
    if len({len(x) for x, _ in micro_batches}) > 1:
        micro_batches = [tuple(torch.cat(parts) for parts in zip(*micro_batches, strict=True))]
    for x, y in micro_batches:
        (loss_fn(model(x), y) / len(micro_batches)).backward()
