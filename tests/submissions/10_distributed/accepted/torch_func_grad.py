"""Differentiates with torch.func, then shares the sums by hand."""

from itertools import islice

import torch.distributed as dist
from torch.func import functional_call, grad

EXERCISE = "ddp_train_epoch"


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    network, stream = model.module, iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples, totals = sum(len(x) for x, _ in window), {}
        for x, y in window:
            values = {name: p.detach() for name, p in network.named_parameters()}
            pieces = grad(lambda v, x=x, y=y: loss_fn(functional_call(network, v, (x,)), y) * len(x) / samples)(values)
            totals = {name: totals.get(name, 0) + piece for name, piece in pieces.items()}
        for name, p in network.named_parameters():
            dist.all_reduce(totals[name])
            p.grad = totals[name] / dist.get_world_size()
        optimizer.step()
