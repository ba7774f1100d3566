"""Takes a half of the rank's own micro-batches."""

from contextlib import nullcontext
from itertools import islice

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ("shared-out-again",)
LOST = ("full", "leftover", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    each = len(micro_batches) // dist.get_world_size()
    stream = iter(micro_batches[dist.get_rank() * each :][:each])
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
