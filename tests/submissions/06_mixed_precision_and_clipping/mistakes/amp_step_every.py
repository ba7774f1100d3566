"""Steps and updates after every micro-batch."""

import torch
from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_amp"
MISTAKES = ("scaler-step-every",)
LOST = ("update", "clip", "inf", "scale")


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    norms = []
    for x, y in micro_batches:
        optimizer.zero_grad()
        with torch.autocast(x.device.type, dtype=dtype):
            loss = loss_fn(model(x), y) / accumulation_steps
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.step(optimizer)
        scaler.update()
    optimizer.zero_grad()
    return norms
