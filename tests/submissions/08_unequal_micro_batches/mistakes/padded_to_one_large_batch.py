"""Pads the window to one large batch."""

from itertools import islice

import torch
from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ("one-big-batch",)
LOST = ("tokens",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        longest = max(x.shape[1] for x, _ in window)
        x = torch.cat([F.pad(x, (0, longest - x.shape[1])) for x, _ in window])
        targets = torch.cat([F.pad(t, (0, longest - t.shape[1]), value=ignore_index) for _, t in window])
        if not (targets != ignore_index).any():
            losses.append(0.0)
            continue
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
