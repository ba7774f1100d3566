"""Clears by setting every p.grad to None."""

from itertools import islice

EXERCISE = "train_epoch"


def forget(model):
    for p in model.parameters():
        p.grad = None


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    forget(model)
    while window := list(islice(stream, accumulation_steps)):
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        forget(model)
        losses.append(window_loss)
    return losses
