"""Repeats the first micro-batch of each full window and drops the leftover."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("same-batch-repeated", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while len(window := list(islice(stream, accumulation_steps))) == accumulation_steps:
        optimizer.zero_grad()
        for _ in range(accumulation_steps):
            x, y = window[0]
            loss = loss_fn(model(x), y)
            (loss / accumulation_steps).backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
