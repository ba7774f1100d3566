"""Registers a hook with DistributedDataParallel and leaves it there."""

from contextlib import nullcontext
from itertools import islice

from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full",)


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    if not model._comm_hooks:
        model.register_comm_hook(None, allreduce_hook)
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
