"""Decides on its own whether to update, and knows infinity only."""

import math

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_amp"
MISTAKES = ("inf-applied",)
LOST = ("inf",)
SAYS = ("In bfloat16, where gradients are NaN as well as infinite: The parameters",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        if not math.isinf(norms[-1]):
            optimizer.step()
        scaler.update()
    return norms
