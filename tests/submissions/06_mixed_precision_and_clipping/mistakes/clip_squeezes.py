"""Squeezes what the model returns, so one output for each sample becomes none."""

from itertools import islice

import torch

EXERCISE = "train_epoch_clipped"
MISTAKES = ()
LOST = ("idle",)


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            (loss_fn(model(x).squeeze(-1), y) * (len(x) / samples)).backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm).item())
        optimizer.step()
    optimizer.zero_grad()
    return norms
