"""Multiplies the learning rate by N for each update."""

from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_amp"
MISTAKES = ()
LOST = ("update", "clip", "inf", "scale")
SAYS = ("times as far as its gradient, the learning rate and the momentum say.",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        for group in optimizer.param_groups:
            group["lr"] *= accumulation_steps
        scaler.step(optimizer)
        for group in optimizer.param_groups:
            group["lr"] /= accumulation_steps
        scaler.update()
    return norms
