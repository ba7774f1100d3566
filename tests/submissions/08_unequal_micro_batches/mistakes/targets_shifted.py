"""Shifts the targets once more, as if the model had not been given them shifted."""

from itertools import islice

from torch.nn import functional as F

EXERCISE = "train_epoch_tokens"
MISTAKES = ("targets-shifted",)
LOST = ("tokens", "leftover", "empty", "bare", "ignore", "losses")


def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    stream = iter(micro_batches)
    means = []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = max(1, sum((t != ignore_index).sum().item() for _, t in window))
        total = 0.0
        for x, t in window:
            loss = (
                F.cross_entropy(model(x)[:, :-1].flatten(0, 1), t[:, 1:].flatten(), ignore_index=ignore_index, reduction="sum")
                / tokens
            )
            loss.backward()
            total += loss.item()
        optimizer.step()
        means.append(total)
    return means
