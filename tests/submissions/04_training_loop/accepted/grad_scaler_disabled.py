"""Goes through a GradScaler that is switched off."""

from itertools import islice

import torch

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            with torch.autocast(x.device.type, enabled=False):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
            window_loss += loss.item()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
