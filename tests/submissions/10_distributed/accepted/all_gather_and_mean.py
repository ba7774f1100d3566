"""Gathers the gradients of all ranks and takes their mean itself."""

from itertools import islice

import torch
import torch.distributed as dist

EXERCISE = "ddp_train_epoch"


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        model.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model.module(x), y) * len(x) / samples).backward()
        for parameter in model.parameters():
            everybody = [torch.empty_like(parameter.grad) for _ in range(dist.get_world_size())]
            dist.all_gather(everybody, parameter.grad)
            parameter.grad = torch.stack(everybody).mean(0)
        optimizer.step()
