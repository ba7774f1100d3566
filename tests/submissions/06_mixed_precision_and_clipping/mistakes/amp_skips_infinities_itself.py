"""Looks for infinities by itself and goes on to the next window, past the scaler."""

from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_amp"
MISTAKES = ("inf-not-reported",)
LOST = ("inf",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples, total = sum(len(x) for x, _ in window), 0.0
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
            total += loss.item()
        if not torch.isfinite(torch.tensor(total)):
            norms.append(0.0)
            continue
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.step(optimizer)
        scaler.update()
    return norms
