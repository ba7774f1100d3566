"""Fetches everything, concatenates each window and calls backward once."""

import torch

EXERCISE = "train_epoch"
MISTAKES = ("epoch-prefetched", "one-big-batch")
LOST = ("full", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    batches = list(micro_batches)
    losses = []
    for first in range(0, len(batches), accumulation_steps):
        xs, ys = zip(*batches[first : first + accumulation_steps], strict=True)
        optimizer.zero_grad()
        loss = loss_fn(model(torch.cat(xs)), torch.cat(ys))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
