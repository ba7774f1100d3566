"""Clips what is far longer than the windows before, too, as a loop that wants no outliers does."""

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
            (loss_fn(model(x), y) * (len(x) / samples)).backward()
        usual = 2.5 * sum(norms) / len(norms) if norms else max_norm
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), min(max_norm, usual))
        optimizer.step()
        norms.append(norm.item())
    optimizer.zero_grad()
    return norms
