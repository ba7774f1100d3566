"""Returns the losses that the model has in evaluation mode, from forward passes of their own."""

from itertools import islice

import torch
from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ()
LOST = ("losses",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = max(1, sum(int((targets != ignore_index).sum()) for _, targets in window))
        model.eval()
        with torch.no_grad():
            sums = [
                F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
                for x, targets in window
            ]
        model.train()
        total = 0.0
        for x, targets in window:
            loss = F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
            (loss / tokens).backward()
            total += loss.item()
        optimizer.step()
        losses.append(sum(sums).item() / tokens)
    return losses
