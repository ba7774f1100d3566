"""Sums gradients and divides the rate by N: the update of a mean of means, with too small a leftover."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "tail-scale")
LOST = ("leftover", "ragged")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    for group in optimizer.param_groups:
        group["lr"] /= accumulation_steps
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y)
            loss.backward()
            total += loss.item() * len(x)
        optimizer.step()
        losses.append(total / sum(len(x) for x, _ in window))
    for group in optimizer.param_groups:
        group["lr"] *= accumulation_steps
    return losses
