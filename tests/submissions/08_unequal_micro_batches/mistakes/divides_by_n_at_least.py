"""Divides by at least N, also where a window has fewer tokens."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ()
LOST = ("empty",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = max(accumulation_steps, sum(int((targets != ignore_index).sum()) for _, targets in window))
        total = 0.0
        for x, targets in window:
            loss = F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index, reduction="sum")
            loss = loss / tokens
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses
