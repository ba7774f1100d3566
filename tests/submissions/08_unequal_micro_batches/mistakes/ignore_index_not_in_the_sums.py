"""Counts tokens as told, but sums the losses of all that is not -100."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ("ignore-index-fixed",)
LOST = ("ignore",)


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream = iter(micro_batches)
    means = []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = max(1, sum((t != ignore_index).sum().item() for _, t in window))
        total = 0.0
        for x, t in window:
            loss = F.cross_entropy(model(x).flatten(0, 1), t.flatten(), reduction="sum") / tokens
            loss.backward()
            total += loss.item()
        optimizer.step()
        means.append(total)
    return means
