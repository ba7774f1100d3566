"""Adds up, never divides, and clips at as many times the threshold."""

from itertools import islice

from torch.nn.utils import clip_grad_norm_

EXERCISE = "train_epoch_clipped"
MISTAKES = ("no-scale",)
LOST = ("bound", "idle", "norms")


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            loss_fn(model(x), y).backward()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm * len(window))))
        optimizer.step()
    optimizer.zero_grad()
    return norms
