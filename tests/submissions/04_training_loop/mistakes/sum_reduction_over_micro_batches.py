"""Sums over the samples and divides by the number of micro-batches only."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("sum-reduction",)
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        window_sum = 0.0
        for x, y in window:
            loss_sum = loss_fn(model(x), y) * len(x)
            (loss_sum / len(window)).backward()
            window_sum += loss_sum.item()
        optimizer.step()
        losses.append(window_sum / sum(len(x) for x, _ in window))
    optimizer.zero_grad()
    return losses
