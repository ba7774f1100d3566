"""Works with a scaler that is switched off as well."""

import torch
from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_amp"


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    rest, norms = list(micro_batches), []
    while rest:
        window, rest = rest[:accumulation_steps], rest[accumulation_steps:]
        model.zero_grad()
        samples = sum(x.shape[0] for x, _ in window)
        for x, y in window:
            with torch.autocast(x.device.type, dtype):
                loss = loss_fn(model(x), y)
            loss = loss * (x.shape[0] / samples)
            (scaler.scale(loss) if scaler.is_enabled() else loss).backward()
        if scaler.is_enabled():
            scaler.unscale_(optimizer)
        norms.append(clip_grad_norm_(model.parameters(), max_norm).item())
        if scaler.is_enabled():
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
    model.zero_grad()
    return norms
