"""Skips a window without tokens, and its loss with it."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ()
LOST = ("bare",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream = iter(micro_batches)
    means = []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        if all((t == ignore_index).all() for _, t in window):
            continue
        tokens = max(1, sum((t != ignore_index).sum().item() for _, t in window))
        total = 0.0
        for x, t in window:
            loss = F.cross_entropy(model(x).flatten(0, 1), t.flatten(), ignore_index=ignore_index, reduction="sum") / tokens
            loss.backward()
            total += loss.item()
        optimizer.step()
        means.append(total)
    return means
