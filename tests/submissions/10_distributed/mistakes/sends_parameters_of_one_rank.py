"""Every rank trains alone, and after each update all of them take the parameters of rank 0."""

from itertools import islice

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ("one-rank-for-all",)
LOST = ("full", "leftover", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        with model.no_sync():
            for x, y in window:
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
        for parameter in model.parameters():
            dist.broadcast(parameter.data, src=0)
