"""Sends zeros around, and the parameters of rank 0."""

from itertools import islice

import torch
import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ("one-rank-for-all",)
LOST = ("full", "leftover", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model.module(x), y) * len(x) / samples).backward()
        optimizer.step()
        for parameter in model.parameters():
            dist.all_reduce(torch.zeros_like(parameter))
            dist.broadcast(parameter.data, src=0)
