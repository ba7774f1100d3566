"""Adds up over the ranks, and weighs all micro-batches alike."""

from itertools import islice

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ("rank-sum", "mean-of-means")
LOST = ("full", "leftover")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model.module(x), y) / len(window)).backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
