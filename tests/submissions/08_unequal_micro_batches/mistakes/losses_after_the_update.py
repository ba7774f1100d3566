"""Reports the loss of each window after its update."""

from itertools import islice

import torch
from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ()
LOST = ("losses",)
SAYS = ("They are its losses after the update.",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = max(1, sum(int((targets != ignore_index).sum()) for _, targets in window))
        total = 0.0
        for x, targets in window:
            loss = F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
            (loss / tokens).backward()
            total += loss.item()
        optimizer.step()
        with torch.no_grad():
            total = sum(
                F.cross_entropy(model(x).flatten(0, 1), t.flatten(), ignore_index=ignore_index, reduction="sum").item()
                for x, t in window
            )
        losses.append(total / tokens)
    optimizer.zero_grad()
    return losses
