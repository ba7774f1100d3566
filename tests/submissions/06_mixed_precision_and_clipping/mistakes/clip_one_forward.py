"""Sends a whole window through the model at once."""

import torch
from torch.nn.utils import clip_grad_norm_

from gradaccum.loops import windows

EXERCISE = "train_epoch_clipped"
MISTAKES = ("one-big-batch",)
LOST = ("idle",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        x, y = (torch.cat(parts) for parts in zip(*window, strict=True))
        loss_fn(model(x), y).backward()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        optimizer.step()
    optimizer.zero_grad()
    return norms
