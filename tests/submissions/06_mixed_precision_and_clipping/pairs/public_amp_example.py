"""Scales the loss over N, and unscales, clips, steps and updates at every N-th batch."""

import torch
from torch.nn.utils import clip_grad_norm_

STYLE = "the mixed-precision example of PyTorch's documentation"
REPORT = "no report: unscaling and updating the scale happen only where there is an update"
SOURCE = "https://github.com/pytorch/pytorch/pull/36601"
EXERCISE = "train_epoch_amp"
MISTAKES = ("mean-of-means", "tail-stale")
LOST = ("update", "clip")


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    norms = []
    for i, (data, target) in enumerate(micro_batches):
        with torch.autocast(data.device.type, dtype=dtype):
            loss = loss_fn(model(data), target)
            loss = loss / accumulation_steps
        scaler.scale(loss).backward()
        if (i + 1) % accumulation_steps == 0:
            scaler.unscale_(optimizer)
            norms.append(clip_grad_norm_(model.parameters(), max_norm).item())
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    return norms
