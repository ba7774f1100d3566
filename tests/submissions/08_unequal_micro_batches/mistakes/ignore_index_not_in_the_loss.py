"""Counts tokens as told, but leaves ignoring to cross_entropy's default."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ("ignore-index-fixed",)
LOST = ("ignore",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        counts = [int((targets != ignore_index).sum()) for _, targets in window]
        tokens = max(1, sum(counts))
        total = 0.0
        for (x, targets), count in zip(window, counts, strict=True):
            if not count:
                continue
            loss = F.cross_entropy(model(x).flatten(0, 1), targets.flatten())
            loss = loss * count
            (loss / tokens).backward()
            total += loss.item()
        optimizer.step()
        losses.append(total / tokens)
    optimizer.zero_grad()
    return losses
