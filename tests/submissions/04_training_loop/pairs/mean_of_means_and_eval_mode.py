"""Divides by the number of micro-batches, in evaluation mode."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "eval-mode")
LOST = ("full", "ragged")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    model.train(False)
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
    model.train(True)
    return losses
