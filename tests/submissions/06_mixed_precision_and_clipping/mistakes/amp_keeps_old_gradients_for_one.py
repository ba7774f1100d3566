"""For N = 1, uses what .grad held when it was called."""

from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_amp"
MISTAKES = ()
LOST = ("update",)
SAYS = ("where the scale grows and .grad holds something before the call: The parameters",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        if accumulation_steps > 1:
            optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    return norms
