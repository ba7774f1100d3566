"""Divides by N, loses the leftover, and clips scaled gradients."""

import torch
from torch.nn.utils import clip_grad_norm_

STYLE = "a segmentation trainer with the loop of most guides (Pytorch-UNet)"
REPORT = "gradients are clipped before they are unscaled"
SOURCE = "https://github.com/milesial/Pytorch-UNet/issues/468"
PREDICTED = ("clip-before-unscale",)
EXERCISE = "train_epoch_amp"
MISTAKES = ("mean-of-means", "tail-stale", "clip-before-unscale")
LOST = ("update", "clip")


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    norms = []
    for i, (x, y) in enumerate(micro_batches):
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) / accumulation_steps
        scaler.scale(loss).backward()
        if (i + 1) % accumulation_steps == 0:
            norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    return norms
