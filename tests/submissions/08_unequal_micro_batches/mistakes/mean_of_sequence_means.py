"""Averages over the tokens of each sequence, then over sequences."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ()
LOST = ("tokens", "leftover", "empty", "bare", "ignore", "losses")


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        sequences = sum(len(x) for x, _ in window)
        total = 0.0
        for x, targets in window:
            each = F.cross_entropy(model(x).transpose(1, 2), targets, ignore_index=ignore_index, reduction="none")
            loss = (each.sum(1) / (targets != ignore_index).sum(1).clamp(min=1)).sum()
            (loss / sequences).backward()
            total += loss.item()
        optimizer.step()
        losses.append(total / sequences)
    optimizer.zero_grad()
    return losses
