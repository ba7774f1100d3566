"""Makes the update by hand, without the optimizer's momentum."""

from contextlib import nullcontext
from itertools import islice

import torch

EXERCISE = "ddp_train_epoch"
MISTAKES = ()
LOST = ("full", "leftover", "rounds")


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                (loss_fn(model(x), y) * len(x) / samples).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= optimizer.param_groups[0]["lr"] * parameter.grad
