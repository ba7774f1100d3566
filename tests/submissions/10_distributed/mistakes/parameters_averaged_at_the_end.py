"""Shares nothing in its windows, and averages parameters once, at the end of the epoch."""

from itertools import islice

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ("never-sync",)
LOST = ("full", "leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            with model.no_sync():
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
    optimizer.zero_grad()
    for parameter in model.parameters():
        dist.all_reduce(parameter.data)
        parameter.data /= dist.get_world_size()
