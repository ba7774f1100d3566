"""Divides by the number of ranks where the number of accumulation steps is due."""

from contextlib import nullcontext

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ("rank-divided-twice", "no-scale")
LOST = ("full", "leftover")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches, 1):
        last = i % accumulation_steps == 0 or i == len(micro_batches)
        with nullcontext() if last else model.no_sync():
            (loss_fn(model(x), y) / dist.get_world_size()).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
