"""Sums gradients in one flat buffer of its own, and shares that once per window."""

from itertools import islice

import torch
import torch.distributed as dist

EXERCISE = "ddp_train_epoch"


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters, stream = list(model.parameters()), iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window) * dist.get_world_size()
        flat = torch.zeros(sum(p.numel() for p in parameters), dtype=parameters[0].dtype)
        for x, y in window:
            gradients = torch.autograd.grad(loss_fn(model.module(x), y), parameters)
            flat += torch.cat([g.reshape(-1) for g in gradients]) * len(x) / samples
        dist.all_reduce(flat)
        for p, piece in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
            p.grad = piece.view_as(p).clone()
        optimizer.step()
