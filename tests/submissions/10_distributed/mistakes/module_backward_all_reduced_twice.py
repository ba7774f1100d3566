"""Goes past DistributedDataParallel, which then shares nothing, and shares each window's gradients twice itself."""

from itertools import islice

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ("sync-again",)
LOST = ("rounds",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            loss = loss_fn(model.module(x), y) * len(x) / samples
            with model.no_sync():
                loss.backward()
        for _ in range(2):
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
                parameter.grad /= dist.get_world_size()
        optimizer.step()
    optimizer.zero_grad()
