"""Calls step once more at the end, when every gradient is None: nothing moves."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"


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
        losses.append(total / tokens)
    optimizer.zero_grad()
    optimizer.step()
    return losses
