"""Sends a whole window through the model at once."""

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_amp"
MISTAKES = ("one-big-batch",)
LOST = ("update",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        x, y = (torch.cat(parts) for parts in zip(*window, strict=True))
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.step(optimizer)
        scaler.update()
    optimizer.zero_grad()
    return norms
