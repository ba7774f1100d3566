"""Takes torch.stack(losses).mean() of a window and calls backward once."""

from itertools import islice

import torch

EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "one-big-batch")
LOST = ("full", "ragged")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        each = torch.stack([loss_fn(model(x), y) for x, y in window])
        each.mean().backward()
        optimizer.step()
        sizes = torch.tensor([len(x) for x, _ in window]).to(each)
        losses.append(float((each.detach() * sizes).sum() / sizes.sum()))
    optimizer.zero_grad()
    return losses
