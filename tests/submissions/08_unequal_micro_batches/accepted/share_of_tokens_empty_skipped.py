"""Weighs each mean by its share of tokens and passes over micro-batches without any."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        counts = [(targets != ignore_index).sum().item() for _, targets in window]
        tokens = sum(counts)
        total = 0.0
        for (x, targets), count in zip(window, counts, strict=True):
            if count == 0:
                continue
            loss = F.cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=ignore_index)
            loss = loss * (count / tokens)
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    optimizer.zero_grad()
    return losses
