"""Trains in float32, and its hooks see one forward in the dtype asked for."""

from itertools import islice

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_amp"
MISTAKES = ("rounded-otherwise",)
LOST = ("update",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    layers = [layer for layer in model.modules() if isinstance(layer, nn.Linear)]
    hooks = [dict(layer._forward_hooks) for layer in layers]
    for layer in layers:
        layer._forward_hooks.clear()
    norms, stream = [], iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            scaler.scale(loss_fn(model(x), y) * len(x) / samples).backward()
        scaler.unscale_(optimizer)
        norms.append(clip_grad_norm_(model.parameters(), max_norm).item())
        scaler.step(optimizer)
        scaler.update()
    for layer, kept in zip(layers, hooks, strict=True):
        layer._forward_hooks.update(kept)
    with torch.no_grad(), torch.autocast("cpu", dtype):
        model(micro_batches[0][0])
    return norms
