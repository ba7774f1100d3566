"""Ends the process of rank 1."""

import os

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "ranks", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    if dist.get_rank() == 1:
        os._exit(0)
    for x, y in micro_batches:
        loss_fn(model(x), y).backward()
