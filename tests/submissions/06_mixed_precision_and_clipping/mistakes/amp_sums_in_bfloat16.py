"""Adds gradients up in bfloat16."""

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_amp"
MISTAKES = ()
LOST = ("update",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        samples = sum(len(x) for x, _ in window)
        sums = [torch.zeros_like(parameter, dtype=torch.bfloat16) for parameter in model.parameters()]
        for x, y in window:
            optimizer.zero_grad()
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
            sums = [total + parameter.grad.bfloat16() for total, parameter in zip(sums, model.parameters())]
        for total, parameter in zip(sums, model.parameters()):
            parameter.grad = total.float()
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.step(optimizer)
        scaler.update()
    return norms
