"""Prints, warns and logs from every rank."""

import logging
import sys
import warnings
from contextlib import nullcontext
from itertools import islice

import torch.distributed as dist

EXERCISE = "ddp_train_epoch"


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        print("rank", dist.get_rank(), "has", samples, "samples", file=sys.stderr)
        warnings.warn("nothing to worry about", stacklevel=1)
        logging.getLogger("training").warning("window of %d", len(window))
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
        print("step")
