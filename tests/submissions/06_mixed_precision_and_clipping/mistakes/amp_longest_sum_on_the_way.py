"""Returns the longest gradient that there was while a window was added up."""

from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_, get_total_norm

EXERCISE = "train_epoch_amp"
MISTAKES = ()
LOST = ("clip",)


def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    norms, stream = [], iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        total, longest = sum(len(x) for x, _ in window), 0.0
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * len(x) / total
            scaler.scale(loss).backward()
            scaled = get_total_norm([p.grad for p in model.parameters() if p.grad is not None]).item()
            longest = max(longest, scaled / scaler.get_scale())
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), max_norm)
        norms.append(longest)
        scaler.step(optimizer)
        scaler.update()
    return norms
