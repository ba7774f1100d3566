"""Concatenates the window's micro-batches into one large batch."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("one-big-batch",)
LOST = ("full",)


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        x, y = (torch.cat(parts) for parts in zip(*window, strict=True))
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    optimizer.zero_grad()
    return losses
