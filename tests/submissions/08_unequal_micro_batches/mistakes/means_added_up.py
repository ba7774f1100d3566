"""Adds up mean losses and never divides."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ("no-scale", "empty-is-nan")
LOST = ("tokens", "leftover", "empty", "bare", "ignore", "losses")


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        total = 0.0
        for x, targets in window:
            loss = F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses
