"""Sums scaled gradients in buffers of its own and hands them to the scaler."""

from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_amp"


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    stream, norms, parameters = iter(micro_batches), [], list(model.parameters())
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        totals = [torch.zeros_like(p) for p in parameters]
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y)
            gradients = torch.autograd.grad(scaler.scale(loss), parameters)
            totals = [t + g * (len(x) / samples) for t, g in zip(totals, gradients, strict=True)]
        for p, total in zip(parameters, totals, strict=True):
            p.grad = total
        scaler.unscale_(optimizer)
        norms.append(float(torch.stack([p.grad.norm() for p in parameters]).norm()))
        clip_grad_norm_(parameters, max_norm)
        scaler.step(optimizer)
        scaler.update()
    optimizer.zero_grad()
    return norms
