"""Averages over micro-batches, and gives every gradient the length of the threshold."""

import torch

from gradaccum.loops import windows

EXERCISE = "train_epoch_clipped"
MISTAKES = ("mean-of-means", "clip-always")
LOST = ("bound", "idle", "norms")


def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        for x, y in window:
            (loss_fn(model(x), y) / len(window)).backward()
        norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
        for p in model.parameters():
            p.grad *= max_norm / norm
        norms.append(norm.item())
        optimizer.step()
    return norms
