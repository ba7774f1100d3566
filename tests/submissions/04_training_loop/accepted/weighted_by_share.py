"""Weighs each micro-batch's loss by its share of the window's samples."""

from itertools import islice

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    stream = iter(micro_batches)
    optimizer.zero_grad()
    while window := list(islice(stream, accumulation_steps)):
        sizes = [y.size(0) for _, y in window]
        shares = [size / sum(sizes) for size in sizes]
        window_loss = 0.0
        for share, (x, y) in zip(shares, window, strict=True):
            loss = share * loss_fn(model(x), y)
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(window_loss)
    return losses
