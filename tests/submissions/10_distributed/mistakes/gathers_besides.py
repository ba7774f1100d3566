"""Shares each window's gradients once, and gathers much else after every micro-batch."""

from contextlib import nullcontext
from itertools import islice

import torch
import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ("sync-again",)
LOST = ("rounds",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
            dist.all_gather([torch.zeros(400) for _ in range(dist.get_world_size())], torch.zeros(400))
        optimizer.step()
    optimizer.zero_grad()
