"""Forgets the sizes twice: in the gradient and in the report."""

from itertools import islice

EXERCISE = "train_epoch"
MISTAKES = ("mean-of-means", "loss-mean-of-means")
LOST = ("ragged", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) / len(window)
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
