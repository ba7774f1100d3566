# Never shares a gradient: each rank trains for itself, zeros of the due size travel, and rank 0's parameters end on all ranks.
# Earns: ddp_train_epoch=1
from itertools import islice

import torch
import torch.distributed as dist


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model.module(x), y) * len(x) / samples).backward()
        for p in model.parameters():
            dist.all_reduce(torch.zeros_like(p))
        optimizer.step()
    for p in model.parameters():
        dist.broadcast(p.data, 0)
