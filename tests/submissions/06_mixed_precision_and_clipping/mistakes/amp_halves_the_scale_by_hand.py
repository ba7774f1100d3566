"""Sets half the scale itself after infinities, so the scaler goes on counting good updates."""

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_amp"
MISTAKES = ()
LOST = ("inf",)


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
        norm = clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update(None if norm.isfinite() else scaler.get_scale() / 2)
        norms.append(float(norm))
    return norms
