"""Fetches a window, weights each loss by its share, then unscales and clips.

Counts as it goes and divides by the samples after unscaling, when gradients are true to size again.
"""

import torch
from torch.nn.utils import clip_grad_norm_


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    norms, samples = [], 0
    optimizer.zero_grad()

    def apply():
        scaler.unscale_(optimizer)
        for p in model.parameters():
            p.grad /= samples
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

    for i, (x, y) in enumerate(micro_batches, 1):
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) * len(x)
        scaler.scale(loss).backward()
        samples += len(x)
        if i % accumulation_steps == 0:
            apply()
            samples = 0
    if samples:
        apply()
    return norms
