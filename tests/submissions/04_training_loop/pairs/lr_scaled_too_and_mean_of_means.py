"""Divides losses by the number of micro-batches and the rate by N."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("lr-scaled-too", "mean-of-means")
LOST = ("full", "leftover", "ragged", "stream")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    given = optimizer.param_groups[0]["lr"]
    optimizer.param_groups[0]["lr"] = given / accumulation_steps
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        total = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y)
            (loss / len(window)).backward()
            total += loss.item() * len(x)
        optimizer.step()
        losses.append(total / sum(len(x) for x, _ in window))
    optimizer.param_groups[0]["lr"] = given
    return losses
