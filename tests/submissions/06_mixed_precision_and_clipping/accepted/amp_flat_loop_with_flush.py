"""Counts micro-batches, adds up by samples, and divides the unscaled gradient by them."""

import torch
from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_amp"


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    norms, samples = [], 0
    optimizer.zero_grad(set_to_none=False)

    def apply():
        scaler.unscale_(optimizer)
        for p in model.parameters():
            p.grad /= samples
        norms.append(clip_grad_norm_(model.parameters(), max_norm))
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

    for i, (x, y) in enumerate(micro_batches, 1):
        with torch.autocast(device_type=x.device.type, dtype=dtype):
            prediction = model(x)
        loss = loss_fn(prediction.float(), y) * len(x)
        scaler.scale(loss).backward()
        samples += len(x)
        if i % accumulation_steps == 0:
            apply()
            samples = 0
    if samples:
        apply()
    return norms
