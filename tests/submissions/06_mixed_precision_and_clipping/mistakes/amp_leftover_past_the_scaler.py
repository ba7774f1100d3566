"""Steps past the scaler with a leftover window, so infinite gradients move the parameters."""

from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_amp"
MISTAKES = ("inf-applied",)
LOST = ("inf",)
SAYS = ("Where the gradients of a leftover window are infinite: The parameters",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        if len(window) == accumulation_steps:
            scaler.step(optimizer)
        else:
            optimizer.step()
        scaler.update()
    return norms
