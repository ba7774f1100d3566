"""Clips leftover windows only."""

from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_amp"
MISTAKES = ("not-clipped",)
LOST = ("clip",)
SAYS = ("In full windows, your updates are those of gradients that nothing shortens",)


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
        limit = max_norm if len(window) < accumulation_steps else float("inf")
        norms.append(float(clip_grad_norm_(model.parameters(), limit)))
        scaler.step(optimizer)
        scaler.update()
    return norms
