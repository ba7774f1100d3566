"""Joins the window to one batch, so there is one all-reduce, and nothing is accumulated."""

from itertools import islice

import torch

EXERCISE = "ddp_train_epoch"
MISTAKES = ("one-big-batch",)
LOST = ("full",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        x, y = (torch.cat(parts) for parts in zip(*window, strict=True))
        loss_fn(model(x), y).backward()
        optimizer.step()
