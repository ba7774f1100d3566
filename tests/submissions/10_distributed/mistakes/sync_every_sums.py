"""Adds up .grad over the ranks by hand, after every micro-batch, so that what is a sum already is added up again."""

from itertools import islice

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"
MISTAKES = ("sync-every",)
LOST = ("full", "leftover", "rounds")
SAYS = ("Update 1 holds",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model.module(x), y) * len(x) / samples).backward()
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
        optimizer.step()
