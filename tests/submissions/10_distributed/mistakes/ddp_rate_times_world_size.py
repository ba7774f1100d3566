"""Multiplies the learning rate by the number of ranks for as long as it runs."""

from contextlib import nullcontext
from itertools import islice

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full", "leftover")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for group in optimizer.param_groups:
        group["lr"] *= dist.get_world_size()
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
    for group in optimizer.param_groups:
        group["lr"] /= dist.get_world_size()
