"""Skips a window with an infinite norm, but clears only after a real update."""

from itertools import islice

import torch

STYLE = "a speech trainer (ESPnet)"
REPORT = "gradients are not cleared when they are not finite, which spoils all that follows"
SOURCE = "https://github.com/espnet/espnet/pull/3283"
PREDICTED = ("inf-not-cleared",)
EXERCISE = "train_epoch_amp"
MISTAKES = ("inf-not-cleared",)
LOST = ("inf",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accum_grad, grad_clip, dtype):
    stream, norms = iter(micro_batches), []
    optimizer.zero_grad()
    while window := list(islice(stream, accum_grad)):
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=grad_clip)
        norms.append(float(grad_norm))
        if not torch.isfinite(grad_norm):
            scaler.step(optimizer)
            scaler.update()
        else:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    return norms
