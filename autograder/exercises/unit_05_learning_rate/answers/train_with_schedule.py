"""Accumulates in `.grad` and notes the rate just before the update.

A generator that yields each rate just before it is used; the gradients are added up in buffers of their own.
"""

from itertools import islice

import torch


def rates_of(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    parameters = [p for p in model.parameters() if p.requires_grad]
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        sums = [torch.zeros_like(p) for p in parameters]
        for x, y in window:
            for s, g in zip(sums, torch.autograd.grad(loss_fn(model(x), y), parameters), strict=True):
                s += g * len(x) / samples
        for p, s in zip(parameters, sums, strict=True):
            p.grad = s
        yield optimizer.param_groups[0]["lr"]
        optimizer.step()
        scheduler.step()


def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    return list(rates_of(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps))
