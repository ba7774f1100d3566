"""Computes in mixed precision only if it accumulates."""

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_amp"
MISTAKES = ("rounded-otherwise",)
LOST = ("update",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype, enabled=accumulation_steps > 1):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.step(optimizer)
        scaler.update()
    return norms
