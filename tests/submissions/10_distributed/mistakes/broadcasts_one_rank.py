"""Sends the gradients of rank 0 to everybody in place of the mean."""

from itertools import islice

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ("one-rank-for-all",)
LOST = ("full", "leftover", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        with model.no_sync():
            for x, y in window:
                (loss_fn(model(x), y) * len(x) / samples).backward()
        for p in model.parameters():
            dist.broadcast(p.grad, src=0)
        optimizer.step()
