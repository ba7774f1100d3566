"""Replaces infinite numbers in .grad after every backward, so the window of a broken micro-batch is applied."""

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_amp"
MISTAKES = ()
LOST = ("inf",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * (len(x) / samples)
            scaler.scale(loss).backward()
            for p in model.parameters():
                torch.nan_to_num_(p.grad, nan=0.0, posinf=0.0, neginf=0.0)
        scaler.unscale_(optimizer)
        norms.append(clip_grad_norm_(model.parameters(), max_norm).item())
        scaler.step(optimizer)
        scaler.update()
    return norms
