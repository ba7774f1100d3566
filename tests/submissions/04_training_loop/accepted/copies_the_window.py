"""Moves copies of a whole window's data where it wants them before it trains on them."""

from itertools import islice

EXERCISE = "train_epoch"


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    like = next(model.parameters())
    losses = []
    stream = iter(micro_batches)
    while window := [(x.to(like, copy=True), y.to(like, copy=True)) for x, y in islice(stream, accumulation_steps)]:
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad()
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
