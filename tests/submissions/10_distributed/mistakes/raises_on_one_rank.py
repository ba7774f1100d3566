"""Raises an error on rank 1 while rank 0 waits for it."""

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    optimizer.zero_grad()
    for x, y in micro_batches:
        if dist.get_rank() == 1:
            raise ValueError("rank 1 has other plans")
        loss_fn(model(x), y).backward()
