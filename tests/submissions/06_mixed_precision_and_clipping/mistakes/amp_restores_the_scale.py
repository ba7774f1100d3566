"""Sets the scale back to what it was whenever the scaler has lowered it."""

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
        scaler.unscale_(optimizer)
        norms.append(clip_grad_norm_(model.parameters(), max_norm).item())
        scaler.step(optimizer)
        old = scaler.get_scale()
        scaler.update()
        if scaler.get_scale() < old:
            scaler.update(old)
    optimizer.zero_grad()
    return norms
